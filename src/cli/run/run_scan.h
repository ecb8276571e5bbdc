/* run_scan.h: `run --scan-at-exit`: which leaked blocks were still reachable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RUN_SCAN_H
#define ML_RUN_SCAN_H

#include "launch.h"
#include "ring.h"

/* Searches the copies that processes left at their exit, adds the result to the trace, and lets the
 * copies end. Says so if that is not possible. Call it after the collector's end.
 * @start_ns  CLOCK_MONOTONIC at time 0 of the trace */
void ml_run_scan(struct ml_launch *launch, const char *trace, struct ml_session *page,
                 uint64_t start_ns);

#endif
