/* replay_state.h: a live table as bytes, so that a replay can start in the middle of a trace.
 *
 * The state of a table is its totals, spaces and processes, and its pool of blocks. The pool is
 * large and changes little from one state to the next, so it is written as the entries that
 * differ from those of an earlier state. Entries keep their places, free ones too: a replay that
 * continues from here puts each block where a replay from the start would have put it, and
 * reports that list blocks in the order of the table come out the same.
 *
 * docs/trace-format.md specifies the bytes. They are not trusted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLAY_STATE_H
#define ML_ANALYZE_REPLAY_STATE_H

#include "replay.h"

typedef ML_VEC(struct ml_block) ml_block_pool;

/* The version of the state. Readers do not use one of another version. */
#define ML_STATE_VERSION 1

/* Appends the table's state without its blocks. @return 0 or -ENOMEM */
int ml_replay_put_state(const struct ml_replay *replay, struct ml_buf *out);

/* Appends the entries of the pool that differ from `before`, and makes `before` equal to the pool.
 * An empty `before` differs in every entry.
 * @return 0 or -ENOMEM */
int ml_replay_put_blocks(const struct ml_replay *replay, ml_block_pool *before, struct ml_buf *out);

/* Reads both. The table must be new, with the same trace and without caps.
 * @return 0, -EBADMSG, or -ENOMEM; the table can then only be released */
int ml_replay_get_state(struct ml_replay *replay, const uint8_t *in, const uint8_t *end);

/* Whether a block is being resized: its entry is in the pool, but not live. */
bool ml_replay_is_moving(const struct ml_replay *replay);

/* Puts a live block into the pool of a table whose totals include it already.
 * @return 0, -EBADMSG if that is impossible, or -ENOMEM */
int ml_replay_put_back(struct ml_replay *replay, const struct ml_block *block);

/* Applies the entries that differ. Call it for each state from one with all blocks on, then
 * ml_replay_get_state for the last, then ml_replay_find_again.
 * @return as above */
int ml_replay_get_blocks(struct ml_replay *replay, const uint8_t *in, const uint8_t *end);

/* Checks that blocks and state fit each other and makes the blocks findable by address.
 * @return as above */
int ml_replay_find_again(struct ml_replay *replay);

#endif
