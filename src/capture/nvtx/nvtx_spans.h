/* nvtx_spans.h: NVTX's start and end, and its marks.
 *
 * A started range belongs to the process: it may end on another thread and overlap others, so it is
 * not a scope but a task (objects.h) of its domain. Marks are markers of the domain. As with all
 * tasks and markers, nothing is recorded while the program has paused the profiler.
 * Async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_SPANS_H
#define ML_NVTX_SPANS_H

#include <stdint.h>

/* @return the range's number, never 0 and never reused */
uint64_t ml_nvtx_start(uint32_t domain, uint32_t name);

/* Ends it; ignores a number that is unknown or has ended. */
void ml_nvtx_end(uint64_t range);

void ml_nvtx_mark(uint32_t domain, uint32_t name);

#endif
