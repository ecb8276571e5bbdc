/* safe_point.h: whether a stopped thread may be made to call pthread_create where it is.
 *
 * It may not hold a lock that pthread_create takes: be inside the allocator, the dynamic loader, a
 * function of libc that may hold one, or code of libc without a symbol, at any depth of its stack.
 * A wait in a system call is fine otherwise, such as fgets waiting for input. A signal handler may
 * have interrupted any of these functions. The stack is unwound by the unwind tables of the loaded
 * objects. In doubt the answer is no, and the caller tries again a moment later or takes another
 * thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAFE_POINT_H
#define ML_SAFE_POINT_H

#include <stdbool.h>

#include "error.h"
#include "traced_thread.h"

struct ml_unwinder;

/* For threads of this process. The objects that it has loaded are read once. */
int ml_unwinder_new(pid_t pid, struct ml_unwinder **ret, struct ml_error *err);
void ml_unwinder_free(struct ml_unwinder *u);

/* Precondition: the thread is stopped, by this process.
 * @ret_why  if not: a few words, such as "inside malloc" */
bool ml_point_is_safe(struct ml_unwinder *u, struct ml_traced_thread *t, const char **ret_why);

#endif
