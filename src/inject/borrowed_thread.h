/* borrowed_thread.h: a thread of another process, stopped where it can be made to do something
 * else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BORROWED_THREAD_H
#define ML_BORROWED_THREAD_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "target_symbols.h"
#include "traced_thread.h"

#define ML_BORROW_THREADS_MAX 64 /* that are tried in each round */

struct ml_borrowed_thread {
    pid_t pid;
    struct ml_target_symbols symbols;
    struct ml_traced_thread thread;
    uint64_t instruction;              /* a syscall instruction */
    uint64_t restorer;                 /* see way_back.h */
    pid_t held[ML_BORROW_THREADS_MAX]; /* seized, but not to be stopped yet */
    unsigned held_count;
};

/* Stops a thread at a safe point, and saves its state; ml_traced_detach lets it go on.
 * @return 0 or negative errno with an explanation */
int ml_borrow_thread(pid_t pid, struct ml_borrowed_thread *b, struct ml_error *err);

/* Other threads that were seized go on, once their calls have returned. Call it from time to time.
 */
void ml_borrowed_let_go(struct ml_borrowed_thread *b);

#endif
