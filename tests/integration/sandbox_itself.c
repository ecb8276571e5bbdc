/* sandbox_itself.c: restricts its own system calls, and then allocates.
 *
 *     sandbox_itself WAY FILTER ACTION:COUNT... [-- COMMAND...]
 *
 * WAY is how the filter is installed: prctl, syscall (libc's syscall(), as libseccomp does),
 * raw (the instruction, which no hook sees), none.
 * FILTER is a word of sandbox_filters.h, "strict", or "counter" (the time stamp counter raises
 * SIGSEGV). ACTION is loop, thread, fork, spawn or exec; each has COUNT blocks allocated and freed,
 * by malloc and as reported to memledger. Or it is names, which enters COUNT scopes of different
 * names, or profile, which runs the built-in profiler COUNT times, or config, run or dump, which
 * are parts of that and may fail only with a reason that names the sandbox. After "--" it becomes
 * that command.
 *
 * Ends with status 3 and "done", unless it is killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"
#include "sandbox_filters.h"

#define BLOCK_BYTES 1000

static memledger_space space;

/* ---- Filters --------------------------------------------------------------- */

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

/* Whether that works is another question. */
static void profile(unsigned long count)
{
    const char *key = "filename", *value = "profile.json";

    while (count--) {
        memledger_set_config(1, &key, &value);
        memledger_set_state(MEMLEDGER_RUN);
        memledger_set_state(MEMLEDGER_STOP);
        memledger_dump(1);
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
    case 'p': profile(count); break;
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
