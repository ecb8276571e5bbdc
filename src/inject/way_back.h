/* way_back.h: lets a borrowed thread return to its own work by itself.
 *
 * If the tracer is killed, the kernel lets the thread go on where it is. So the thread's own state
 * is written below its stack pointer first, as the kernel does when it calls a signal handler, and
 * every borrowed call returns into the function of libc that ends a signal handler: rt_sigreturn
 * loads all registers, the floating-point state and the signal mask from there. While the tracer
 * lives, it restores the thread before that happens.
 *
 * A system call that the thread was waiting in is then repeated; one with a timeout returns EINTR,
 * as after a handled signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WAY_BACK_H
#define ML_WAY_BACK_H

#include "traced_thread.h"

/* The address of libc's code for the end of a signal handler, in the mapping that contains
 * `in_libc`. @return 0: not found */
uint64_t ml_way_back_find(pid_t pid, uint64_t in_libc);

/* Writes the saved state. A thread whose stack pointer is the result can return there: `ret` goes
 * to libc's code, with the state above.
 * @return 0: the stack has no room, or cannot be written to */
uint64_t ml_way_back_write(const struct ml_traced_thread *t, uint64_t restorer);

#endif
