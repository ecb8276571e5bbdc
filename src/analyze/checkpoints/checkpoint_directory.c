/* checkpoint_directory.c: see checkpoint_directory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_directory.h"

#include <errno.h>
#include <string.h>

#include "checkpoint_tags.h"
#include "number_rows.h"
#include "replay_state.h"
#include "step_table.h"

static int put_facts(const struct ml_directory_parts *p, uint64_t steps_block, struct ml_buf *out)
{
    uint64_t row[ML_FACTS_FIELDS] = {
        [ML_FACTS_VERSION] = ML_DIRECTORY_VERSION,
        [ML_FACTS_CLASSIFIED] = p->classified,
        [ML_FACTS_LAST_EVENT] = p->last.event,
        [ML_FACTS_LAST_NS] = p->last.time_ns,
        [ML_FACTS_LAST_END_EVENT] = p->last_end.event,
        [ML_FACTS_LAST_END_NS] = p->last_end.time_ns,
        [ML_FACTS_STEPS] = p->named->track.count,
        [ML_FACTS_FIRST_STEP] = p->named->track.first,
        [ML_FACTS_HIGHEST_STEP] = p->named->track.highest,
        [ML_FACTS_LANDMARKS] = p->has_landmarks,
        [ML_FACTS_STEPS_BLOCK] = steps_block,
        [ML_FACTS_SEGMENTS] = p->has_segments,
    };
    const ml_numbers numbers = {.items = row, .len = ML_FACTS_FIELDS};

    return ml_rows_put(out, ML_DIRECTORY_FACTS, &numbers, ML_FACTS_FIELDS);
}

static int put_list(const struct ml_directory_parts *p, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = ml_vec_reserve(&numbers, p->checkpoint_count * ML_LIST_FIELDS);

    for (size_t i = 0; r == 0 && i < p->checkpoint_count; i++) {
        const struct ml_checkpoint *c = &p->checkpoints[i];
        uint64_t *row = numbers.items + numbers.len;

        row[ML_LIST_EVENT] = c->at.event;
        row[ML_LIST_NS] = c->at.time_ns;
        row[ML_LIST_STATE] = c->state;
        row[ML_LIST_CLASSES] = c->classes;
        row[ML_LIST_WHOLE] = c->whole;
        numbers.len += ML_LIST_FIELDS;
    }
    if (r == 0)
        r = ml_rows_put(out, ML_DIRECTORY_LIST, &numbers, ML_LIST_FIELDS);
    ml_vec_release(&numbers);
    return r;
}

static int add_row(ml_numbers *numbers, const uint64_t *row, size_t fields)
{
    for (size_t i = 0; i < fields; i++)
        if (ml_vec_push(numbers, row[i]) < 0)
            return -ENOMEM;
    return 0;
}

/* In a section of its own, because there may be many. */
static int put_steps(const struct ml_directory_parts *p, struct ml_block_writer *out)
{
    struct ml_buf steps = {0};
    int r = ml_step_table_put(p->named, &steps);

    if (r == 0)
        r = ml_block_writer_section(out, ML_BLOCK_DIRECTORY, p->last.time_ns, steps.data,
                                    steps.len);
    ml_buf_release(&steps);
    return r;
}

static int put_refusals(const struct ml_directory_parts *p, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->named->refusals.len; i++) {
        const struct ml_refusal_instant *refusal = &p->named->refusals.items[i];
        const uint64_t row[ML_REFUSALS_FIELDS] = {refusal->at.event, refusal->at.time_ns,
                                                  refusal->bytes};

        r = add_row(&numbers, row, ML_REFUSALS_FIELDS);
    }
    if (r == 0)
        r = ml_rows_put(out, ML_DIRECTORY_REFUSALS, &numbers, ML_REFUSALS_FIELDS);
    ml_vec_release(&numbers);
    return r;
}

static int put_outlines(const struct ml_directory_parts *p, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->outline_count; i++) {
        const struct ml_outline *o = &p->outlines[i];
        const uint64_t row[ML_OUTLINES_FIELDS] = {o->at.event, o->at.time_ns, o->block, o->until};

        r = add_row(&numbers, row, ML_OUTLINES_FIELDS);
    }
    if (r == 0)
        r = ml_rows_put(out, ML_DIRECTORY_OUTLINES, &numbers, ML_OUTLINES_FIELDS);
    ml_vec_release(&numbers);
    return r;
}

static int put_end(const struct ml_replay *end, struct ml_buf *out)
{
    struct ml_buf state = {0};
    int r = ml_replay_put_state(end, &state);

    if (r == 0)
        r = ml_record_put(out, ML_DIRECTORY_END, state.data, state.len);
    ml_buf_release(&state);
    return r;
}

int ml_directory_put(const struct ml_directory_parts *p, const struct ml_replay *end,
                     struct ml_block_writer *out)
{
    uint64_t steps_block = ml_block_writer_next(out);
    struct ml_buf directory = {0};
    int r = put_steps(p, out);

    if (r == 0)
        r = put_facts(p, steps_block, &directory);
    if (r == 0)
        r = put_list(p, &directory);
    if (r == 0)
        r = put_refusals(p, &directory);
    if (r == 0)
        r = put_outlines(p, &directory);
    if (r == 0 && p->maker)
        r = ml_record_put(&directory, ML_DIRECTORY_MAKER, p->maker, strlen(p->maker));
    if (r == 0)
        r = put_end(end, &directory);
    if (r == 0)
        r = ml_block_writer_section(out, ML_BLOCK_DIRECTORY, p->last.time_ns, directory.data,
                                    directory.len);
    ml_buf_release(&directory);
    return r;
}
