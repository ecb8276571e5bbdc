/* run_checkpoints.h: adds checkpoints to the trace, when the program is gone.
 *
 * The collector cannot make them as it goes: docs/architecture.md explains why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUN_CHECKPOINTS_H
#define ML_CLI_RUN_CHECKPOINTS_H

#include <stdbool.h>

#include "checkpoint_cache.h"
#include "launch.h"

/* Waits for a child that adds them, unless a signal asks us to end. The trace must be complete. By
 * default only a long trace gets them, and only if that takes little time compared with the run;
 * the first report makes those that are missing. */
void ml_run_add_checkpoints(struct ml_launch *l, const char *trace, enum ml_checkpoint_use use,
                            bool quiet);

#endif
