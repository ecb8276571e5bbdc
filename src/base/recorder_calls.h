/* recorder_calls.h: the system calls that the recorder makes inside the target.
 *
 * One table for two readers: filter_verdict.c asks a program's seccomp filter what becomes of
 * each, and cmd_collect.c makes each of them under the filters that memledger itself inherits.
 * A system call that is added to the recorder must be added here; test_recorder_calls.py
 * compares the table with the sources and with what the libraries import.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_RECORDER_CALLS_H
#define ML_BASE_RECORDER_CALLS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define ML_CALL_ARGS 4

struct ml_recorder_call {
    uint32_t number;
    bool may_fail; /* the caller handles an error */
    uint8_t known; /* a bit for each argument with a fixed value */
    uint64_t args[ML_CALL_ARGS];
};

#define ML_CALL_READ_FLAGS (O_RDONLY | O_CLOEXEC)
#define ML_CALL_FILE_FLAGS (O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define ML_CALL_PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define ML_CALL_PROTECTION (PROT_READ | PROT_WRITE)
#define ML_CALL_ADD_SEALS 1033  /* F_ADD_SEALS, which takes _GNU_SOURCE */
#define ML_CALL_WIPE_ON_FORK 18 /* MADV_WIPEONFORK, which old headers lack */
#define ML_CALL_POPULATE 23     /* MADV_POPULATE_WRITE, the same */
#define ML_CALL_MEMFD_FLAGS 3   /* CLOEXEC | ALLOW_SEALING */

static const struct ml_recorder_call ml_recorder_calls[] = {
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, ML_CALL_PRIVATE}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, ML_CALL_PRIVATE | MAP_NORESERVE}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, MAP_SHARED}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, MAP_SHARED | MAP_NORESERVE}},
    {SYS_mremap, true, 0xa, {0, 0, 0, 1 /* MREMAP_MAYMOVE */}},
    {SYS_munmap, true, 0, {0}},
    {SYS_mprotect, true, 4, {0, 0, PROT_READ}},
    {SYS_mprotect, true, 4, {0, 0, ML_CALL_PROTECTION}},
    {SYS_madvise, true, 4, {0, 0, MADV_DONTDUMP}},
    {SYS_madvise, true, 4, {0, 0, MADV_REMOVE}},
    {SYS_madvise, true, 4, {0, 0, ML_CALL_WIPE_ON_FORK}},
    {SYS_madvise, true, 4, {0, 0, ML_CALL_POPULATE}},
    {SYS_mincore, true, 0, {0}},
    {SYS_rt_sigprocmask, false, 9, {SIG_BLOCK, 0, 0, sizeof(uint64_t)}},
    {SYS_rt_sigprocmask, false, 9, {SIG_SETMASK, 0, 0, sizeof(uint64_t)}},
    {SYS_rt_sigprocmask, true, 9, {UINT64_MAX, 0, 0, sizeof(uint64_t)}},
    {SYS_rt_sigpending, true, 2, {0, sizeof(uint64_t)}},
    {SYS_sigaltstack, true, 1, {0}},
    {SYS_futex, false, 2, {0, FUTEX_WAIT}},
    {SYS_futex, false, 2, {0, FUTEX_WAKE}},
    {SYS_futex, false, 2, {0, FUTEX_WAIT_PRIVATE}},
    {SYS_futex, false, 2, {0, FUTEX_WAKE_PRIVATE}},
    {SYS_nanosleep, false, 0, {0}},
    {SYS_restart_syscall, true, 0, {0}}, /* made by the kernel to resume an interrupted sleep */
    {SYS_clock_gettime, false, 1, {CLOCK_MONOTONIC}},
    {SYS_clock_gettime, false, 1, {CLOCK_MONOTONIC_COARSE}},
    {SYS_gettid, false, 0, {0}},
    {SYS_getpid, false, 0, {0}},
    {SYS_getppid, true, 0, {0}},
    {SYS_geteuid, true, 0, {0}},
    {SYS_tgkill, true, 4, {0, 0, 0}},
    {SYS_memfd_create, true, 2, {0, ML_CALL_MEMFD_FLAGS}},
    {SYS_ftruncate, true, 0, {0}},
    {SYS_fcntl, true, 2, {0, ML_CALL_ADD_SEALS}},
    {SYS_getrlimit, true, 1, {RLIMIT_FSIZE}},
    {SYS_getrlimit, true, 1, {RLIMIT_AS}},
    {SYS_prlimit64, true, 7, {0, RLIMIT_FSIZE, 0}},
    {SYS_prlimit64, true, 7, {0, RLIMIT_AS, 0}},
    {SYS_openat, true, 4, {0, 0, ML_CALL_READ_FLAGS}},
    {SYS_openat, true, 4, {0, 0, O_RDWR | O_CLOEXEC}},
    {SYS_openat, true, 4, {0, 0, ML_CALL_FILE_FLAGS}},
    {SYS_fstat, true, 0, {0}},
    {SYS_newfstatat, true, 0, {0}},
    {SYS_read, true, 0, {0}},
    {SYS_write, true, 0, {0}},
    {SYS_close, false, 0, {0}},
    {SYS_socket, true, 7, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0}},
    {SYS_socket, true, 7, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}},
    {SYS_connect, true, 0, {0}},
    {SYS_getsockopt, true, 6, {0, SOL_SOCKET, SO_PEERCRED}},
    {SYS_sendmsg, true, 4, {0, 0, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {SYS_sendmsg, true, 4, {0, 0, MSG_NOSIGNAL}},
    {SYS_sendto, true, 8, {0, 0, 0, MSG_NOSIGNAL | MSG_DONTWAIT}},
    {SYS_setsockopt, true, 6, {0, SOL_SOCKET, SO_SNDTIMEO}},
    {SYS_prctl, true, 1, {PR_GET_NAME}},
    {SYS_readlink, true, 0, {0}},
    {SYS_readlinkat, true, 0, {0}},
    {SYS_kill, true, 2, {0, 0}},
    {SYS_getcwd, true, 0, {0}},
    {SYS_process_vm_readv, true, 0, {0}},
};

/* The calls with which a program started in a sandbox counts itself: session_peek.h. */
static const struct ml_recorder_call ml_counting_calls[] = {
    {SYS_openat, true, 4, {0, 0, O_RDWR | O_CLOEXEC}},
    {SYS_read, true, 0, {0}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, MAP_SHARED}},
    {SYS_munmap, true, 0, {0}},
    {SYS_close, true, 0, {0}},
};

#endif
