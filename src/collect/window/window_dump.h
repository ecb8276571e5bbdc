/* window_dump.h: writes the state at the beginning of a window as blocks of a trace, one at a
 * time: definitions, the section of what was dropped, events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_DUMP_H
#define ML_WINDOW_DUMP_H

#include "block_write.h"
#include "encode.h"
#include "window_state.h"

typedef ML_VEC(struct ml_index_totals) ml_totals_list;

struct ml_window_dump {
    struct ml_window_state *state;
    struct ml_encoder *encoder;
    struct ml_buf raw;
    struct ml_event *notes;
    size_t note_count, next_note;
    uint32_t *order; /* of the pool; NULL: as it is */
    size_t next_block;
    size_t next_space;       /* to be marked as one with ranges */
    struct ml_event label;   /* of the block before; kind 0: none */
    uint64_t label_blocks;   /* blocks that have one */
    uint64_t ranged_spaces;  /* spaces with ranges */
    uint64_t first_ns;       /* of the first event */
    size_t next_defs;        /* in state->defs_ends */
    bool section_done, done; /* the last: everything is written */
};

/* The state must not change until the dump is released. @return 0 or -ENOMEM; release it in both
 * cases */
int ml_window_dump_begin(struct ml_window_dump *d, struct ml_window_state *state);
void ml_window_dump_release(struct ml_window_dump *d);

/* Writes the next block, and adds its counts to the list. Sets d->done after the last one.
 * @return 0 or negative errno */
int ml_window_dump_block(struct ml_window_dump *d, struct ml_block_writer *to,
                         ml_totals_list *counts);

#endif
