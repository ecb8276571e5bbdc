/* sandbox_filters.h: seccomp filters by name, for the programs that restrict themselves.
 *
 * "deny:NAME,NAME..." kills for these system calls, "refuse:NAME,NAME..." makes them fail,
 * "readonly" kills for files that are opened for writing, "only" for all calls but those that
 * libc needs, "recorder" for all but these, the loader's and the recorder's; the kernel does not
 * accept "bad".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SANDBOX_FILTERS_H
#define SANDBOX_FILTERS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../../src/base/recorder_calls.h"

#define CALLS_MAX 128
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    unsigned number;
} known_calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"socket", SYS_socket},
    {"sendmsg", SYS_sendmsg},
    {"setsockopt", SYS_setsockopt},
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

/* More for the dynamic loader, and for those who start a program. */
static const unsigned loaders_calls[] = {
    SYS_execve,     SYS_access,          SYS_openat, SYS_pread64, SYS_close,
    SYS_arch_prctl, SYS_set_tid_address, SYS_fstat,  SYS_vfork,   SYS_newfstatat,
};

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
    static __thread struct sock_filter code[CALLS_MAX + 3];
    unsigned at = 0;

    code[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < n; i++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], n - i, 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, miss);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, hit);
    return (struct sock_fprog){(unsigned short)at, code};
}

static struct sock_fprog make_recorders_filter(void)
{
    unsigned calls[CALLS_MAX], n = 0;

    for (size_t i = 0; i < COUNT(own_calls); i++)
        calls[n++] = own_calls[i];
    for (size_t i = 0; i < COUNT(loaders_calls); i++)
        calls[n++] = loaders_calls[i];
    for (size_t i = 0; i < COUNT(ml_recorder_calls); i++)
        calls[n++] = ml_recorder_calls[i].number;
    return make_filter(calls, n, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
}

static struct sock_fprog make_readonly_filter(void)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    return (struct sock_fprog){COUNT(code), code};
}

/* Takes the text apart. */
static struct sock_fprog filter_of(char *text)
{
    bool is_refusal = text[0] == 'r';
    unsigned calls[CALLS_MAX], n = 0;

    if (!strcmp(text, "only"))
        return make_filter(own_calls, COUNT(own_calls), SECCOMP_RET_ALLOW,
                           SECCOMP_RET_KILL_PROCESS);
    if (!strcmp(text, "recorder"))
        return make_recorders_filter();
    if (!strcmp(text, "readonly"))
        return make_readonly_filter();
    if (!strcmp(text, "bad"))
        return (struct sock_fprog){0, NULL};
    for (char *name = strtok(strchr(text, ':') + 1, ","); name; name = strtok(NULL, ","))
        calls[n++] = number_of(name);
    return make_filter(calls, n, is_refusal ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS,
                       SECCOMP_RET_ALLOW);
}

#endif
