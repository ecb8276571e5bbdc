/* outline_maker.h: makes outlines (outline.h) while a trace is replayed.
 *
 * At an outline the blocks of the table are added up; then each block that was live there and is
 * freed is noted. The section is written when the next outline begins, or the trace ends.
 *
 * Only plain tables have outlines: those without blocks in blocks, ranges and labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OUTLINE_MAKER_H
#define ML_ANALYZE_OUTLINE_MAKER_H

#include "block_write.h"
#include "checkpoints.h"
#include "number_rows.h"

struct ml_outline_maker {
    struct ml_replay *replay;
    bool is_open;              /* a stretch is being noted */
    struct ml_outline outline; /* where it began */
    struct ml_buf head;        /* the state and the groups there */
    struct ml_intern groups;
    ml_numbers sums;      /* rows of the table of groups */
    ML_VEC(uint64_t) old; /* a bit for each entry of the pool: live there, and not freed yet */
    struct ml_buf gaps, group_of, sizes;
    uint64_t last_event; /* that freed one */
    size_t spaces;       /* that were looked at */
    uint64_t looked_at;  /* events before those looked at last */
    bool is_plain;       /* the table can have outlines so far */
    int error;
};

/* The table must outlive it. The maker takes its on_close and ctx. */
void ml_outline_maker_init(struct ml_outline_maker *m, struct ml_replay *replay);
void ml_outline_maker_release(struct ml_outline_maker *m);

/* Call it before the table gets the events. */
void ml_outline_maker_look(struct ml_outline_maker *m, const struct ml_event *events, size_t count);

/* Whether an outline can begin after the last event. */
bool ml_outline_maker_can_begin(const struct ml_outline_maker *m);

/* The bytes of the section so far, before compression; 0: none is open. */
uint64_t ml_outline_maker_bytes(const struct ml_outline_maker *m);

/* Begins an outline. @return 0 or -ENOMEM */
int ml_outline_maker_begin(struct ml_outline_maker *m, struct ml_moment at);

/* Writes the section of the open one, which is then closed.
 * @ret    where it is
 * @return 0 or negative errno */
int ml_outline_maker_end(struct ml_outline_maker *m, struct ml_moment now,
                         struct ml_block_writer *out, struct ml_outline *ret);

#endif
