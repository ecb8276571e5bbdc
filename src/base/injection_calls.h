/* injection_calls.h: the system calls with which `memledger attach` loads the recorder into a
 * process, beside those of the recorder itself (recorder_calls.h).
 *
 * The borrowed thread maps memory and calls pthread_create; the new thread calls dlopen. In a
 * Python program the main thread imports the package. An error of a call ends the attach and does
 * no harm, except for those that every thread makes and whose errors libc does not expect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_INJECTION_CALLS_H
#define ML_BASE_INJECTION_CALLS_H

#include "recorder_calls.h"

#ifndef SYS_clone3
#define SYS_clone3 435 /* which old headers lack */
#endif
#ifndef SYS_rseq
#define SYS_rseq 334
#endif
/* Of a new thread: memory, files, signal handlers and more are those of its process. */
#define ML_CALL_THREAD 0x3d0f00
#define ML_CALL_STACK (ML_CALL_PRIVATE | MAP_STACK)
#define ML_CALL_LIBRARY (MAP_PRIVATE | MAP_DENYWRITE)
#define ML_CALL_CODE (PROT_READ | PROT_EXEC)

static const struct ml_recorder_call ml_injection_calls[] = {
    /* The borrowed thread. */
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_CODE, ML_CALL_PRIVATE}},
    {SYS_rt_sigreturn, false, 0, {0}},
    {SYS_memfd_create, true, 2, {0, 1 /* CLOEXEC */}},
    /* pthread_create, and the beginning and end of a thread. */
    {SYS_mmap, true, 0xc, {0, 0, PROT_NONE, ML_CALL_STACK}},
    {SYS_mmap, true, 0xc, {0, 0, PROT_NONE, ML_CALL_STACK | MAP_NORESERVE}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, ML_CALL_STACK}},
    {SYS_clone3, true, 0, {0}},
    {SYS_clone, true, 1, {ML_CALL_THREAD}},
    {SYS_set_robust_list, true, 0, {0}},
    {SYS_rseq, true, 0, {0}},
    {SYS_sched_getaffinity, true, 0, {0}},
    {SYS_madvise, true, 4, {0, 0, MADV_DONTNEED}},
    {SYS_exit, false, 0, {0}},
    {SYS_futex, false, 2, {0, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME}},
    /* malloc in the new thread. */
    {SYS_mmap, true, 0xc, {0, 0, PROT_NONE, ML_CALL_PRIVATE | MAP_NORESERVE}},
    {SYS_brk, true, 0, {0}},
    {SYS_getrandom, true, 0, {0}},
    /* dlopen. */
    {SYS_mmap, true, 0xc, {0, 0, PROT_READ, ML_CALL_LIBRARY}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_CODE, ML_CALL_LIBRARY | MAP_FIXED}},
    {SYS_mmap, true, 0xc, {0, 0, PROT_READ, ML_CALL_LIBRARY | MAP_FIXED}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, ML_CALL_LIBRARY | MAP_FIXED}},
    {SYS_mmap, true, 0xc, {0, 0, ML_CALL_PROTECTION, ML_CALL_PRIVATE | MAP_FIXED}},
    {SYS_mprotect, true, 4, {0, 0, PROT_NONE}},
    {SYS_pread64, true, 0, {0}},
    /* Python's import, and the package. */
    {SYS_stat, true, 0, {0}},
    {SYS_lstat, true, 0, {0}},
    {SYS_lseek, true, 0, {0}},
    {SYS_ioctl, true, 0, {0}},
    {SYS_getdents64, true, 0, {0}},
    {SYS_openat, true, 4, {0, 0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_DIRECTORY}},
    {SYS_openat, true, 4, {0, 0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC}},
    {SYS_mkdir, true, 0, {0}},
    {SYS_rename, true, 0, {0}},
    {SYS_fcntl, true, 2, {0, F_GETFD}},
};

#endif
