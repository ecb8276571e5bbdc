/* checkpoint_cache.h: the checkpoints of traces, in the user's cache folder.
 *
 * `memledger run` puts checkpoints into a long trace. If a trace has none, or those of another
 * version of memledger, they are made at the first question and used by the next ones.
 * The folder is memledger in XDG_CACHE_HOME, or in ~/.cache. A file there belongs to one trace file
 * and to one build of memledger. It is made again if either has changed, or if it is damaged. The
 * oldest files are removed when the folder has more than 4 GiB of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_CHECKPOINT_CACHE_H
#define ML_CLI_CHECKPOINT_CACHE_H

#include "trace.h"

enum ml_checkpoint_use {
    ML_CHECKPOINTS_AUTO,   /* the trace's own, or, if it has many events, those of the cache */
    ML_CHECKPOINTS_ALWAYS, /* those of the cache, which are more and make an answer quicker */
    ML_CHECKPOINTS_NEVER,
    ML_CHECKPOINTS_FOUND, /* those that exist: it is not worth making some. Not a user's choice */
};

/* Attaches the trace's checkpoints, and makes them if necessary, with progress on a terminal. If
 * that is not possible, the trace has none, and reports read it from its start. */
void ml_checkpoint_cache_attach(struct ml_trace *trace, enum ml_checkpoint_use use);

#endif
