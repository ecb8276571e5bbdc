/* sandbox_itself.c: restricts its own system calls, and then allocates.
 *
 *     sandbox_itself WAY FILTER ACTION:COUNT... [-- COMMAND...]
 *
 * WAY is how the filter is installed: prctl, syscall (libc's syscall(), as libseccomp does),
 * raw (the instruction, which no hook sees), none.
 * FILTER is "deny:NAME,NAME..." (killed for these system calls), "refuse:NAME,NAME..." (they
 * fail), "only" (killed for all but those that the program itself makes), "strict", "counter" (the
 * time stamp counter raises SIGSEGV), or "bad" (the kernel refuses it). ACTION is loop, thread,
 * fork, spawn or exec; each has COUNT blocks allocated and freed, by malloc and as reported to
 * memledger. Or it is names, which enters COUNT scopes of different names; or config, run or dump,
 * which sets the profile's file, starts the profile or asks for a dump COUNT times. After "--" it
 * becomes that command.
 *
 * Ends with status 3 and "done", unless it is killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define BLOCK_BYTES 1000
#define CALLS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    unsigned number;
} known_calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"socket", SYS_socket},
    {"sendmsg", SYS_sendmsg},
    {"nanosleep", SYS_nanosleep},
    {"clock_nanosleep", SYS_clock_nanosleep},
    {"prctl", SYS_prctl},
    {"openat", SYS_openat},
    {"futex", SYS_futex},
    {"gettid", SYS_gettid},
    {"getpid", SYS_getpid},
    {"getppid", SYS_getppid},
    {"getcwd", SYS_getcwd},
    {"madvise", SYS_madvise},
    {"ftruncate", SYS_ftruncate},
    {"fcntl", SYS_fcntl},
    {"lseek", SYS_lseek},
    {"mmap", SYS_mmap},
    {"prlimit64", SYS_prlimit64},
    {"readlink", SYS_readlink},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
    {"clock_gettime", SYS_clock_gettime},
    {"process_vm_readv", SYS_process_vm_readv},
    {"ptrace", SYS_ptrace},
};

/* What libc needs to allocate, to make threads and children, and to end. */
static const unsigned own_calls[] = {
    SYS_read,         SYS_write,          SYS_exit,
    SYS_exit_group,   SYS_rt_sigreturn,   SYS_brk,
    SYS_mmap,         SYS_munmap,         SYS_mremap,
    SYS_mprotect,     SYS_futex,          SYS_clone,
    SYS_clone3,       SYS_rseq,           SYS_set_robust_list,
    SYS_wait4,        SYS_rt_sigprocmask, SYS_getrandom,
    SYS_madvise,      SYS_prlimit64,      SYS_sched_getaffinity,
    SYS_rt_sigaction,
};

static memledger_space space;

/* ---- Filters --------------------------------------------------------------- */

static unsigned number_of(const char *name)
{
    for (size_t i = 0; i < COUNT(known_calls); i++) {
        if (!strcmp(known_calls[i].name, name))
            return known_calls[i].number;
    }
    fprintf(stderr, "unknown system call %s\n", name);
    exit(2);
}

/* A program that answers `hit` for the calls in the list, else `miss`. */
static struct sock_fprog make_filter(const unsigned *calls, unsigned n, unsigned hit, unsigned miss)
{
    static struct sock_filter code[CALLS_MAX + 3];
    unsigned at = 0;

    code[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < n; i++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], n - i, 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, miss);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, hit);
    return (struct sock_fprog){(unsigned short)at, code};
}

static struct sock_fprog filter_of(char *text)
{
    bool is_refusal = text[0] == 'r';
    unsigned calls[CALLS_MAX], n = 0;

    if (!strcmp(text, "only"))
        return make_filter(own_calls, COUNT(own_calls), SECCOMP_RET_ALLOW,
                           SECCOMP_RET_KILL_PROCESS);
    if (!strcmp(text, "bad"))
        return (struct sock_fprog){0, NULL};
    for (char *name = strtok(strchr(text, ':') + 1, ","); name; name = strtok(NULL, ","))
        calls[n++] = number_of(name);
    return make_filter(calls, n, is_refusal ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS,
                       SECCOMP_RET_ALLOW);
}

static long raw_prctl(long option, long a, const void *b)
{
    long result;
    register long r10 __asm__("r10") = 0;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_prctl), "D"(option), "S"(a), "d"(b), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static int restrict_calls(const char *way, char *filter)
{
    struct sock_fprog program;

    if (!strcmp(filter, "counter"))
        return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (!strcmp(filter, "strict"))
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    program = filter_of(filter);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(way, "raw"))
        return (int)raw_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (!strcmp(way, "syscall"))
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                            &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* ---- Actions --------------------------------------------------------------- */

static void work(unsigned long count)
{
    while (count--) {
        void *volatile block = malloc(BLOCK_BYTES);
        memledger_alloc(space, block, BLOCK_BYTES);
        memledger_free(space, block);
        free(block);
    }
}

static void enter_names(unsigned long count)
{
    char name[32];

    while (count--) {
        snprintf(name, sizeof(name), "scope %lu", count);
        memledger_push(name);
        memledger_pop();
    }
}

/* In a sandbox these may fail, with a reason that names it. */
static void expect_done_or_refused(int result)
{
    if (result && !strstr(memledger_last_error(), "sandbox")) {
        fprintf(stderr, "%s\n", memledger_last_error());
        exit(9);
    }
}

static void set_config(unsigned long count)
{
    const char *key = "filename", *value = "profile.json";

    while (count--)
        expect_done_or_refused(memledger_set_config(1, &key, &value));
}

static void run_profile(unsigned long count)
{
    while (count--)
        expect_done_or_refused(memledger_set_state(MEMLEDGER_RUN));
}

static void dump_profile(unsigned long count)
{
    while (count--)
        expect_done_or_refused(memledger_dump(1));
}

static void *work_in_thread(void *count)
{
    work(*(const unsigned long *)count);
    return NULL;
}

static void in_thread(unsigned long count)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work_in_thread, &count) || pthread_join(thread, NULL))
        exit(4);
}

static void in_child(unsigned long count)
{
    pid_t child = fork();
    int status;

    if (!child) {
        work(count);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        exit(5);
}

static void in_program(const char *self, unsigned long count)
{
    char action[32];

    snprintf(action, sizeof(action), "loop:%lu", count);
    execl(self, self, "none", "none", action, NULL);
    exit(6);
}

static void in_spawned(const char *self, unsigned long count)
{
    char action[32];
    char *arguments[] = {(char *)(uintptr_t)self, "none", "none", action, NULL};
    pid_t child;
    int status;

    snprintf(action, sizeof(action), "loop:%lu", count);
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ) ||
        waitpid(child, &status, 0) != child || status != 3 << 8)
        exit(8);
}

static void act(const char *self, const char *action)
{
    unsigned long count = strtoul(strchr(action, ':') + 1, NULL, 10);

    switch (action[0]) {
    case 'l': work(count); break;
    case 'n': enter_names(count); break;
    case 'c': set_config(count); break;
    case 'r': run_profile(count); break;
    case 'd': dump_profile(count); break;
    case 't': in_thread(count); break;
    case 'f': in_child(count); break;
    case 's': in_spawned(self, count); break;
    case 'e': in_program(self, count); break;
    default: exit(2);
    }
}

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        exit(7);
}

int main(int argc, char **argv)
{
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "sandboxed");
    work(1);
    if (argc < 4)
        return 2;
    if (strcmp(argv[1], "none") != 0) {
        errno = 0;
        if (restrict_calls(argv[1], argv[2]))
            say(errno == EINVAL ? "invalid\n" : "refused\n");
    }
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--"))
            return execvp(argv[i + 1], argv + i + 1);
        act(argv[0], argv[i]);
    }
    say("done\n");
    /* Strict mode knows no exit_group. */
    if (!strcmp(argv[2], "strict"))
        syscall(SYS_exit, 3);
    return 3;
}
