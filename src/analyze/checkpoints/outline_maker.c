/* outline_maker.c: see outline_maker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outline_maker.h"

#include <errno.h>

#include "checkpoint_tags.h"
#include "replay_state.h"

#define WORD_BITS 64

/* ---- Groups ------------------------------------------------------------------ */

enum { KEYS = ML_OUTLINE_BLOCKS }; /* the fields before the sums */

/* @return the number of the block's group or -ENOMEM */
static int64_t group_of(struct ml_outline_maker *m, const struct ml_block *b)
{
    const uint64_t row[ML_OUTLINE_FIELDS] = {
        [ML_OUTLINE_SPACE] = b->space, [ML_OUTLINE_CATEGORY] = b->category,
        [ML_OUTLINE_SCOPE] = b->scope, [ML_OUTLINE_THREAD] = ml_block_thread(b),
        [ML_OUTLINE_STACK] = b->stack, [ML_OUTLINE_LABEL] = b->label,
    };
    bool is_new = false;
    int64_t number = ml_intern_put(&m->groups, row, KEYS * sizeof(row[0]), &is_new);

    for (size_t i = 0; number >= 0 && is_new && i < ML_OUTLINE_FIELDS; i++)
        if (ml_vec_push(&m->sums, row[i]) < 0)
            return -ENOMEM;
    return number;
}

static bool same_group(const struct ml_block *a, const struct ml_block *b)
{
    return a->space == b->space && a->category == b->category && a->scope == b->scope &&
           a->stack == b->stack && a->label == b->label && ml_block_thread(a) == ml_block_thread(b);
}

/* Neighbours in the pool are often of the same group. */
static int add_blocks(struct ml_outline_maker *m)
{
    const struct ml_replay *r = m->replay;
    const struct ml_block *before = NULL;
    int64_t group = 0;

    for (size_t i = 0; i < r->blocks.len; i++) {
        const struct ml_block *b = &r->blocks.items[i];

        if (!b->live)
            continue;
        if (!before || !same_group(before, b))
            group = group_of(m, b);
        if (group < 0)
            return -ENOMEM;
        before = b;
        m->sums.items[(size_t)group * ML_OUTLINE_FIELDS + ML_OUTLINE_BLOCKS]++;
        m->sums.items[(size_t)group * ML_OUTLINE_FIELDS + ML_OUTLINE_BYTES] += b->size;
        m->old.items[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    }
    return 0;
}

/* ---- The stretch after it -------------------------------------------------------- */

static int note(struct ml_outline_maker *m, const struct ml_block *block)
{
    int64_t group = group_of(m, block);
    int r = group < 0 ? -ENOMEM : ml_number_put(&m->gaps, m->replay->events - m->last_event);

    if (r == 0)
        r = ml_number_put(&m->group_of, (uint64_t)group);
    if (r == 0)
        r = ml_number_put(&m->sizes, block->size);
    m->last_event = m->replay->events;
    return r;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_outline_maker *m = ctx;
    size_t i = (size_t)(block - m->replay->blocks.items);
    uint64_t bit = UINT64_C(1) << i % WORD_BITS;

    (void)event;
    if (i / WORD_BITS >= m->old.len || !(m->old.items[i / WORD_BITS] & bit))
        return;
    m->old.items[i / WORD_BITS] &= ~bit;
    if (m->outline.until == UINT64_MAX && m->error == 0)
        m->error = note(m, block);
}

/* ---- Interface --------------------------------------------------------------------- */

void ml_outline_maker_init(struct ml_outline_maker *m, struct ml_replay *replay)
{
    *m = (struct ml_outline_maker){.replay = replay, .is_plain = true};
}

void ml_outline_maker_release(struct ml_outline_maker *m)
{
    ml_buf_release(&m->head);
    ml_intern_release(&m->groups);
    ml_vec_release(&m->sums);
    ml_vec_release(&m->old);
    ml_buf_release(&m->gaps);
    ml_buf_release(&m->group_of);
    ml_buf_release(&m->sizes);
    *m = (struct ml_outline_maker){0};
}

/* A new space may be inside an older one, or around it. */
static void look_at_spaces(struct ml_outline_maker *m)
{
    if (m->spaces == m->replay->spaces.len)
        return;
    m->spaces = m->replay->spaces.len;
    for (size_t i = 0; i < m->spaces; i++)
        if (m->replay->spaces.items[i].around > 0)
            m->is_plain = false;
}

static void end_before(struct ml_outline_maker *m, uint64_t event)
{
    if (!m->is_plain && m->is_open && m->outline.until == UINT64_MAX)
        m->outline.until = ml_max_u64(event, m->outline.at.event);
}

/* A space that is not plain has come with the events before these. */
void ml_outline_maker_look(struct ml_outline_maker *m, const struct ml_event *events, size_t count)
{
    look_at_spaces(m);
    end_before(m, m->looked_at);
    m->looked_at = m->replay->events;
    for (size_t i = 0; m->is_plain && i < count; i++)
        if (events[i].kind == ML_FREE_RANGE || events[i].kind == ML_LABEL)
            m->is_plain = false;
    end_before(m, m->looked_at);
}

bool ml_outline_maker_can_begin(const struct ml_outline_maker *m)
{
    return m->is_plain && !ml_replay_is_moving(m->replay);
}

uint64_t ml_outline_maker_bytes(const struct ml_outline_maker *m)
{
    return m->is_open ? m->head.len + m->sums.len + m->gaps.len + m->group_of.len + m->sizes.len
                      : 0;
}

int ml_outline_maker_begin(struct ml_outline_maker *m, struct ml_moment at)
{
    size_t words = m->replay->blocks.len / WORD_BITS + 1;
    int r;

    ml_buf_clear(&m->head);
    ml_intern_release(&m->groups);
    ml_vec_clear(&m->sums);
    ml_vec_clear(&m->old);
    ml_buf_clear(&m->gaps);
    ml_buf_clear(&m->group_of);
    ml_buf_clear(&m->sizes);
    r = ml_vec_reserve(&m->old, words);
    for (size_t i = 0; r == 0 && i < words; i++)
        r = ml_vec_push(&m->old, 0);
    if (r == 0)
        r = ml_replay_put_state(m->replay, &m->head);
    if (r == 0)
        r = add_blocks(m);
    m->outline = (struct ml_outline){.at = at, .until = UINT64_MAX};
    m->last_event = at.event;
    m->is_open = true;
    m->replay->on_close = on_close;
    m->replay->ctx = m;
    return r;
}

int ml_outline_maker_end(struct ml_outline_maker *m, struct ml_moment now,
                         struct ml_block_writer *out, struct ml_outline *ret)
{
    int r = m->error;

    m->replay->on_close = NULL;
    m->is_open = false;
    *ret = m->outline;
    ret->until = ml_min_u64(ret->until, now.event);
    ret->block = ml_block_writer_next(out);
    if (r == 0)
        r = ml_rows_put(&m->head, ML_OUTLINE_GROUPS, &m->sums, ML_OUTLINE_FIELDS);
    if (r == 0)
        r = ml_record_put(&m->head, ML_OUTLINE_GAPS, m->gaps.data, m->gaps.len);
    if (r == 0)
        r = ml_record_put(&m->head, ML_OUTLINE_GROUP_OF, m->group_of.data, m->group_of.len);
    if (r == 0)
        r = ml_record_put(&m->head, ML_OUTLINE_SIZES, m->sizes.data, m->sizes.len);
    return r < 0 ? r
                 : ml_block_writer_section(out, ML_BLOCK_OUTLINE, now.time_ns, m->head.data,
                                           m->head.len);
}
