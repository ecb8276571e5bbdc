/* seccomp_hooks.h: a system call that bypasses libc's wrapper and our hook on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SECCOMP_HOOKS_H
#define ML_SECCOMP_HOOKS_H

typedef long ml_syscall_function(long number, long a, long b, long c, long d, long e, long f);

/* As syscall(2) returns: -1 and errno on failure. Async-signal-safe. */
extern ml_syscall_function ml_syscall_direct;

#endif
