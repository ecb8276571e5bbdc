/* run_digest.h: the digest of a recording that is part of a distributed job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUN_DIGEST_H
#define ML_CLI_RUN_DIGEST_H

#include <stdbool.h>

#include "launch.h"

enum ml_digest_use { ML_DIGEST_AUTO, ML_DIGEST_ALWAYS, ML_DIGEST_NEVER };

/* In the order of enum ml_digest_use, for an option. */
extern const char *const ml_digest_choices[];

/* Writes the digest beside a trace that is complete, in a process of its own. AUTO: only if a
 * process of the trace has a rank, and if it takes little time compared with the run. A failure
 * leaves no file; `memledger ranks` makes the digest then. */
void ml_run_add_digest(struct ml_launch *l, const char *trace, enum ml_digest_use use, bool quiet);

#endif
