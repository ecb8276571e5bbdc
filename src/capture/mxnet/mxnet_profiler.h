/* mxnet_profiler.h: what a program tells MXNet's own profiler, by its functions in C or
 * through them from Python, is in the trace as well: domains, tasks, frames, events,
 * counters and markers, while that profiler runs. MXNet's own results stay what they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PROFILER_H
#define ML_MXNET_PROFILER_H

#include <stdbool.h>

/* Whether MXNet's profiler runs, is not paused, and has the calls of its API. */
bool ml_mxnet_profiler_wants_calls(void);

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_profiler_hook_of(const char *symbol);

/* What whoever looked that function up, and found `found`, shall get: its hook, unless
 * it is not MXNet's. */
void *ml_mxnet_profiler_hand_out(const char *symbol, void *found);

#endif
