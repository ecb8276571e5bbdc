/* run_verdict.h: why memory was refused, right after the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUN_VERDICT_H
#define ML_CLI_RUN_VERDICT_H

#include "launch.h"

/* Prints the paragraph of `memledger oom` on the last refusal to stderr, if the trace is read in a
 * few seconds. A signal that asks us to end stops it. */
void ml_run_verdict(struct ml_launch *l, const char *trace);

#endif
