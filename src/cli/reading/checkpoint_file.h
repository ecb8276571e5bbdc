/* checkpoint_file.h: checkpoints, pyramids and landmarks of a trace: in a file of their own, or in
 * the trace itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_CHECKPOINT_FILE_H
#define ML_CLI_CHECKPOINT_FILE_H

#include "trace.h"

/* Another version may find other categories, or keep the live table in another way. */
#define ML_CHECKPOINT_MAKER "memledger " MEMLEDGER_VERSION

/* A replay of fewer events takes a few tenths of a second: checkpoints are not worth it. */
#define ML_CHECKPOINT_EVENTS 2000000

struct ml_checkpoint_file_opts {
    double share;            /* of the trace's bytes that checkpoints may take; 0: the default */
    const char *key, *value; /* a setting of the file; NULL: none */
};

/* Writes an empty file, with progress on a terminal.
 * @path   of the file that `fd` has open
 * @return 0 or negative errno */
int ml_checkpoint_file_write(struct ml_trace *trace, const char *path, int fd,
                             const struct ml_checkpoint_file_opts *opts);

/* Adds them to a trace file that is complete. It is not touched until they are ready.
 * @return 0 or negative errno */
int ml_checkpoint_file_embed(const char *trace);

#endif
