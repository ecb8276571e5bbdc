/* recent_traces.h: the traces that were recorded lately, for `memledger view` without a file.
 *
 * A list of paths in memledger/recent in XDG_STATE_HOME, or in ~/.local/state: newest first, a line
 * each. A path may be gone meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RECENT_TRACES_H
#define ML_CLI_RECENT_TRACES_H

#include "arena.h"
#include "vec.h"

#define ML_RECENT_MAX 50

struct ml_recent_traces {
    struct ml_arena arena;
    ML_VEC(const char *) paths;
};

/* Puts a trace at the head of the list, from a process that nobody waits for: the folder may be on
 * a disk that hangs. Failures are ignored, and so is a home that belongs to another user. */
void ml_recent_note(const char *trace);

/* @ret    to be released; empty if there is no list or no memory for it */
void ml_recent_read(struct ml_recent_traces *ret);
void ml_recent_release(struct ml_recent_traces *recent);

#endif
