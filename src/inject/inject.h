/* inject.h: loads a library into another process and calls a function of it there.
 *
 * One thread of the process is stopped for some hundred microseconds, at a point where it holds no
 * lock of libc (safe_point.h), and made to call pthread_create. The new thread loads the library
 * and calls the function while the program goes on; should it have to wait for a lock, it waits as
 * any thread does. Whatever fails, the stopped thread continues as if nothing had happened, even if
 * the caller is killed (way_back.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INJECT_H
#define ML_INJECT_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"

struct ml_injection {
    const char *library;  /* a path in the process's file system */
    const char *function; /* int32_t function(const char *argument) */
    const char *argument;
    const char *folder;   /* private to us and the process, as it names it; NULL: none */
    uint64_t patience_ns; /* for its return */
};

/* A system call for the process to make. */
struct ml_injected_syscall {
    uint64_t number, args[3];
    const char *text; /* replaces the first argument by its address; NULL: nothing */
};

/* Makes it in a thread that is at a safe point. As for ml_inject.
 * @ret_value  its result, or negative errno */
int ml_inject_syscall(pid_t pid, const struct ml_injected_syscall *call, int32_t *ret_value,
                      struct ml_error *err);

/* Waits until the function has returned, for as long as the injection says. The caller's thread
 * becomes the tracer; call it in a process that ends soon afterwards, so that the kernel lets go of
 * everything in any case.
 * @ret_value  what the function returned
 * @return 0 or negative errno with an explanation */
int ml_inject(pid_t pid, const struct ml_injection *injection, int32_t *ret_value,
              struct ml_error *err);

#endif
