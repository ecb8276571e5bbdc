/* outline.c: see outline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outline.h"

#include <errno.h>

#include "checkpoint_tags.h"
#include "number_rows.h"
#include "replay_state.h"
#include "varint.h"

/* ---- Choosing one ------------------------------------------------------------ */

const struct ml_outline *ml_outline_before_event(const struct ml_checkpoints *checkpoints,
                                                 uint64_t event)
{
    const struct ml_outline *list = checkpoints->outlines.items;

    for (size_t i = checkpoints->outlines.len; i-- > 0;)
        if (list[i].at.event <= event)
            return list[i].until >= event ? &list[i] : NULL;
    return NULL;
}

const struct ml_outline *ml_outline_before_time(const struct ml_checkpoints *checkpoints,
                                                uint64_t time_ns)
{
    const struct ml_outline *list = checkpoints->outlines.items;

    for (size_t i = checkpoints->outlines.len; i-- > 0;)
        if (list[i].at.time_ns <= time_ns)
            return &list[i];
    return NULL;
}

/* ---- Groups ------------------------------------------------------------------ */

static int get_group(struct ml_replay *replay, const uint64_t *row)
{
    for (int i = 0; i < ML_OUTLINE_BLOCKS; i++)
        if (row[i] >= ML_ID_MAX)
            return -EBADMSG;
    if (row[ML_OUTLINE_CATEGORY] >= ML_CATEGORIES || row[ML_OUTLINE_SPACE] >= replay->spaces.len ||
        row[ML_OUTLINE_BLOCKS] == 0)
        return -EBADMSG;
    return ml_vec_push(&replay->groups, (struct ml_block){
                                            .addr = row[ML_OUTLINE_BLOCKS],
                                            .size = row[ML_OUTLINE_BYTES],
                                            .space = row[ML_OUTLINE_SPACE] & (ML_ID_MAX - 1),
                                            .category = row[ML_OUTLINE_CATEGORY] & 0x3f,
                                            .live = true,
                                            .scope = row[ML_OUTLINE_SCOPE] & (ML_ID_MAX - 1),
                                            .thread_low = row[ML_OUTLINE_THREAD] & 0xff,
                                            .stack = row[ML_OUTLINE_STACK] & (ML_ID_MAX - 1),
                                            .thread_middle = row[ML_OUTLINE_THREAD] >> 8 & 0xff,
                                            .label = row[ML_OUTLINE_LABEL] & (ML_ID_MAX - 1),
                                            .thread_high = row[ML_OUTLINE_THREAD] >> 16 & 0xff,
                                        });
}

static int get_groups(struct ml_replay *replay, const struct ml_record *record)
{
    uint64_t row[ML_OUTLINE_FIELDS];
    struct ml_rows rows;
    int more = 0, r = ml_rows_open(record, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_OUTLINE_FIELDS)) > 0)
        r = get_group(replay, row);
    return r < 0 ? r : more;
}

/* ---- Reading ------------------------------------------------------------------- */

/* @return whether there was a number */
static bool take(const uint8_t **in, const uint8_t *end, uint64_t *ret)
{
    const uint8_t *next = *in ? ml_varint_get(*in, end, ret) : NULL;

    if (next)
        *in = next;
    return next != NULL;
}

static void find_next(struct ml_outline_frees *frees, uint64_t before)
{
    uint64_t gap;

    frees->next_event = take(&frees->gaps, frees->gaps_end, &gap) && gap <= UINT64_MAX - before - 1
                            ? before + gap
                            : UINT64_MAX;
}

static int read_section(const struct ml_checkpoints *c, const struct ml_outline *outline,
                        struct ml_outline_frees *ret)
{
    *ret = (struct ml_outline_frees){.next_event = UINT64_MAX};
    return ml_trace_read_section(c->file, outline->block, ML_BLOCK_OUTLINE, &ret->bytes);
}

static int get_record(struct ml_outline_frees *frees, struct ml_replay *replay,
                      const struct ml_record *record)
{
    switch (record->tag) {
    case ML_OUTLINE_GROUPS: return get_groups(replay, record);
    case ML_OUTLINE_GAPS:
        frees->gaps = record->in;
        frees->gaps_end = record->end;
        return 0;
    case ML_OUTLINE_GROUP_OF:
        frees->groups = record->in;
        frees->groups_end = record->end;
        return 0;
    case ML_OUTLINE_SIZES:
        frees->sizes = record->in;
        frees->sizes_end = record->end;
        return 0;
    default: return 0;
    }
}

/* Everything but the state. */
static int get_records(struct ml_outline_frees *frees, const struct ml_outline *outline,
                       struct ml_replay *replay)
{
    const uint8_t *in = frees->bytes.data, *end = in + frees->bytes.len;
    struct ml_record record;
    int more, r = 0;

    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0)
        r = more < 0 ? more : get_record(frees, replay, &record);
    if (r == 0)
        find_next(frees, outline->at.event);
    return r;
}

int ml_outline_restore(const struct ml_checkpoints *checkpoints, const struct ml_outline *outline,
                       struct ml_replay *replay, struct ml_outline_frees *ret)
{
    int r = read_section(checkpoints, outline, ret);

    if (r == 0)
        r = ml_replay_get_state(replay, ret->bytes.data, ret->bytes.data + ret->bytes.len);
    if (r == 0 && (replay->events != outline->at.event || ml_map_len(&replay->cut_from) > 0 ||
                   ml_map_len(&replay->cut_bytes) > 0 || ml_replay_is_moving(replay)))
        r = -EBADMSG;
    replay->free_block = 0; /* its chain is in a pool that is not here */
    return r < 0 ? r : get_records(ret, outline, replay);
}

int ml_outline_go_on(const struct ml_checkpoints *checkpoints, const struct ml_outline *outline,
                     struct ml_replay *replay, struct ml_outline_frees *ret)
{
    int r = read_section(checkpoints, outline, ret);

    ml_replay_release_blocks(replay);
    return r < 0 ? r : get_records(ret, outline, replay);
}

void ml_outline_frees_release(struct ml_outline_frees *frees)
{
    ml_buf_release(&frees->bytes);
    *frees = (struct ml_outline_frees){.next_event = UINT64_MAX};
}

/* ---- Putting blocks back --------------------------------------------------------- */

static int put_back(struct ml_replay *replay, const struct ml_event *event, uint64_t number,
                    uint64_t size)
{
    struct ml_block *group, block;
    int r;

    if (number >= replay->groups.len)
        return -EBADMSG;
    group = &replay->groups.items[number];
    if (group->addr == 0 || group->size < size ||
        replay->spaces.items[group->space].number != event->space)
        return -EBADMSG;
    block = *group;
    block.addr = event->addr;
    block.size = size;
    r = ml_replay_put_back(replay, &block);
    group->size -= size;
    group->live = --group->addr > 0;
    return r;
}

int ml_outline_put_back(struct ml_outline_frees *frees, struct ml_replay *replay,
                        const struct ml_event *event)
{
    uint64_t number, size;
    int r;

    if (!take(&frees->groups, frees->groups_end, &number) ||
        !take(&frees->sizes, frees->sizes_end, &size))
        return -EBADMSG;
    r = put_back(replay, event, number, size);
    find_next(frees, frees->next_event);
    return r;
}
