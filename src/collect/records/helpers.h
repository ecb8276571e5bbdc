/* helpers.h: allocations that a thread makes for another one.
 *
 * An operator on the host splits its work among the threads of a pool (OpenMP), which call no
 * modules and run no nodes. Scratch memory that they allocate belongs to the scope of the thread
 * that runs the operator. A worker does not know that thread. If only one thread of the process is
 * in a scope, it is that one; if there are several, the one that the worker helped before: a pool
 * serves one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HELPERS_H
#define ML_HELPERS_H

#include "event.h"
#include "target.h"

/* The event that follows ML_REC_HELPS. An allocation outside of scopes gets the scope of the thread
 * that is helped, if it is known. */
void ml_source_help(struct ml_source *s, struct ml_event *event);

#endif
