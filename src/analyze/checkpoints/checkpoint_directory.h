/* checkpoint_directory.h: the directory of a trace's checkpoints, which is written after them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CHECKPOINT_DIRECTORY_H
#define ML_CHECKPOINT_DIRECTORY_H

#include "block_write.h"
#include "checkpoints.h"
#include "named_instants.h"
#include "replay.h"

struct ml_directory_parts {
    bool classified;                  /* blocks have categories */
    bool has_landmarks, has_segments; /* all of them are in sections of their own */
    struct ml_moment last;            /* the last event of the trace */
    struct ml_moment last_end;        /* see struct ml_checkpoints */
    const struct ml_named_instants *named;
    const struct ml_checkpoint *checkpoints;
    size_t checkpoint_count;
    const struct ml_outline *outlines;
    size_t outline_count;
    const char *maker; /* NULL: not said */
};

/* Writes the directory, and the steps in a section before it.
 * @end  the live table after the last event
 * @return 0 or negative errno */
int ml_directory_put(const struct ml_directory_parts *parts, const struct ml_replay *end,
                     struct ml_block_writer *out);

#endif
