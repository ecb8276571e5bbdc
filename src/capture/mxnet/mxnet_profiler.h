/* mxnet_profiler.h: records in the trace what a program reports to MXNet's own profiler, by its C
 * functions or through them from Python: domains, tasks, frames, events, counters and markers,
 * while that profiler runs. MXNet's own results do not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PROFILER_H
#define ML_MXNET_PROFILER_H

#include <stdbool.h>

/* Whether MXNet's profiler runs, is not paused, and includes the calls of its API. */
bool ml_mxnet_profiler_wants_calls(void);

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_profiler_hook_of(const char *symbol);

/* The function to return to a caller that looked that function up and found `found`: its hook,
 * unless `found` is not MXNet's. */
void *ml_mxnet_profiler_hand_out(const char *symbol, void *found);

#endif
