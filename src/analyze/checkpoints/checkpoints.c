/* checkpoints.c: see checkpoints.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoints.h"

#include <errno.h>
#include <string.h>

#include "checkpoint_tags.h"
#include "classify.h"
#include "number_rows.h"
#include "replay_state.h"
#include "step_table.h"
#include "varint.h"

/* ---- The directory --------------------------------------------------------- */

static int get_facts(struct ml_checkpoints *c, const struct ml_record *record)
{
    uint64_t row[ML_FACTS_FIELDS];
    struct ml_rows rows;

    if (ml_rows_open(record, &rows) < 0 || ml_rows_next(&rows, row, ML_FACTS_FIELDS) != 1 ||
        row[ML_FACTS_VERSION] != ML_DIRECTORY_VERSION)
        return -EBADMSG;
    c->classified = row[ML_FACTS_CLASSIFIED];
    c->last = (struct ml_moment){row[ML_FACTS_LAST_EVENT], row[ML_FACTS_LAST_NS]};
    c->last_end = (struct ml_moment){row[ML_FACTS_LAST_END_EVENT], row[ML_FACTS_LAST_END_NS]};
    c->step_count = row[ML_FACTS_STEPS];
    c->first_step = row[ML_FACTS_FIRST_STEP];
    c->highest_step = row[ML_FACTS_HIGHEST_STEP];
    c->has_landmarks = row[ML_FACTS_LANDMARKS];
    c->has_segments = row[ML_FACTS_SEGMENTS];
    c->steps_block = row[ML_FACTS_STEPS_BLOCK];
    return 0;
}

/* A table of instants, of which there are no more than events. A row may take one byte of the file
 * but several dozens in memory. */
static int open_list(const struct ml_record *record, uint64_t most, struct ml_rows *ret)
{
    int r = ml_rows_open(record, ret);

    return r == 0 && ret->left > most ? -EBADMSG : r;
}

static int get_list(struct ml_checkpoints *c, const struct ml_record *record, uint64_t most)
{
    uint64_t row[ML_LIST_FIELDS];
    struct ml_rows rows;
    int more = 0, r = open_list(record, most - c->list.len, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_LIST_FIELDS)) > 0)
        r = ml_vec_push(&c->list, (struct ml_checkpoint){
                                      .at = {row[ML_LIST_EVENT], row[ML_LIST_NS]},
                                      .state = row[ML_LIST_STATE],
                                      .classes = row[ML_LIST_CLASSES],
                                      .whole = row[ML_LIST_WHOLE],
                                  });
    return r < 0 ? r : more;
}

static int get_refusals(struct ml_checkpoints *c, const struct ml_record *record, uint64_t most)
{
    uint64_t row[ML_REFUSALS_FIELDS];
    struct ml_rows rows;
    int more = 0, r = open_list(record, most - c->refusals.len, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_REFUSALS_FIELDS)) > 0)
        r = ml_vec_push(&c->refusals, (struct ml_checkpoint_refusal){
                                          .at = {row[ML_REFUSALS_EVENT], row[ML_REFUSALS_NS]},
                                          .bytes = row[ML_REFUSALS_BYTES],
                                      });
    return r < 0 ? r : more;
}

static int get_outlines(struct ml_checkpoints *c, const struct ml_record *record, uint64_t most)
{
    uint64_t row[ML_OUTLINES_FIELDS];
    struct ml_rows rows;
    int more = 0, r = open_list(record, most - c->outlines.len, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, ML_OUTLINES_FIELDS)) > 0)
        r = ml_vec_push(&c->outlines, (struct ml_outline){
                                          .at = {row[ML_OUTLINES_EVENT], row[ML_OUTLINES_NS]},
                                          .block = row[ML_OUTLINES_BLOCK],
                                          .until = row[ML_OUTLINES_UNTIL],
                                      });
    return r < 0 ? r : more;
}

/* @most  instants of one sort */
static int get_record(struct ml_checkpoints *c, const struct ml_record *record, uint64_t most)
{
    switch (record->tag) {
    case ML_DIRECTORY_FACTS: return get_facts(c, record);
    case ML_DIRECTORY_LIST: return get_list(c, record, most);
    case ML_DIRECTORY_REFUSALS: return get_refusals(c, record, most);
    case ML_DIRECTORY_OUTLINES: return get_outlines(c, record, most);
    case ML_DIRECTORY_END:
        c->end_state = record->in;
        c->end_state_end = record->end;
        return 0;
    case ML_DIRECTORY_MAKER:
        c->maker = record->in;
        c->maker_end = record->end;
        return 0;
    default: return 0;
    }
}

bool ml_checkpoints_made_by(const struct ml_checkpoints *checkpoints, const char *maker)
{
    size_t len = (size_t)(checkpoints->maker_end - checkpoints->maker);

    return checkpoints->maker && strlen(maker) == len &&
           memcmp(maker, checkpoints->maker, len) == 0;
}

/* The first checkpoint is before the first event and has all blocks, which are none; the others
 * ascend. */
static bool is_list_sane(const struct ml_checkpoints *c)
{
    const struct ml_checkpoint *list = c->list.items;

    if (c->list.len == 0 || list[0].at.event != 0 || list[0].at.time_ns != 0 || !list[0].whole)
        return false;
    for (size_t i = 1; i < c->list.len; i++)
        if (list[i].at.event <= list[i - 1].at.event ||
            list[i].at.time_ns < list[i - 1].at.time_ns || list[i].at.event > c->last.event)
            return false;
    return true;
}

static bool are_outlines_sane(const struct ml_checkpoints *c)
{
    const struct ml_outline *list = c->outlines.items;

    for (size_t i = 0; i < c->outlines.len; i++)
        if (list[i].until < list[i].at.event || list[i].until > c->last.event || c->classified ||
            (i > 0 && (list[i].at.event <= list[i - 1].at.event ||
                       list[i].at.time_ns < list[i - 1].at.time_ns)))
            return false;
    return true;
}

static int read_directory(struct ml_checkpoints *c, uint64_t events)
{
    int64_t first = ml_trace_last_section(c->file, ML_BLOCK_DIRECTORY);
    const uint8_t *in, *end;
    struct ml_record record;
    int more, r;

    if (first < 0)
        return -EBADMSG;
    r = ml_trace_read_section(c->file, (size_t)first, ML_BLOCK_DIRECTORY, &c->directory);
    in = c->directory.data;
    end = in + c->directory.len;
    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0)
        r = more < 0 ? more : get_record(c, &record, events + 1);
    if (r == 0 && (!c->end_state || !is_list_sane(c) || !are_outlines_sane(c)))
        r = -EBADMSG;
    return r;
}

int ml_checkpoints_open(const struct ml_trace *trace, struct ml_checkpoints *ret)
{
    *ret = (struct ml_checkpoints){.file = ml_trace_checkpoints(trace)};
    if (!ret->file)
        return -ENOENT;
    return read_directory(ret, ml_trace_info(trace)->events);
}

void ml_checkpoints_release(struct ml_checkpoints *checkpoints)
{
    ml_vec_release(&checkpoints->list);
    ml_vec_release(&checkpoints->outlines);
    ml_vec_release(&checkpoints->refusals);
    ml_buf_release(&checkpoints->directory);
    *checkpoints = (struct ml_checkpoints){0};
}

/* ---- Choosing one ------------------------------------------------------------ */

const struct ml_checkpoint *ml_checkpoint_before_event(const struct ml_checkpoints *checkpoints,
                                                       uint64_t event)
{
    const struct ml_checkpoint *list = checkpoints->list.items;
    size_t i = 1;

    while (i < checkpoints->list.len && list[i].at.event <= event)
        i++;
    return &list[i - 1];
}

const struct ml_checkpoint *ml_checkpoint_before_time(const struct ml_checkpoints *checkpoints,
                                                      uint64_t time_ns)
{
    const struct ml_checkpoint *list = checkpoints->list.items;
    size_t i = 1;

    while (i < checkpoints->list.len && list[i].at.time_ns <= time_ns)
        i++;
    return &list[i - 1];
}

int ml_checkpoints_step(const struct ml_checkpoints *checkpoints, uint64_t number,
                        struct ml_checkpoint_step *ret)
{
    struct ml_buf bytes = {0};
    int r = ml_trace_read_section(checkpoints->file, checkpoints->steps_block, ML_BLOCK_DIRECTORY,
                                  &bytes);

    if (r == 0)
        r = ml_step_table_find(&bytes, number, ret);
    ml_buf_release(&bytes);
    return r;
}

/* ---- Restoring ----------------------------------------------------------------- */

static int get_categories(const struct ml_record *record, struct ml_classes *ret)
{
    size_t len = (size_t)(record->end - record->in);

    for (size_t i = 0; i < len; i++)
        if (record->in[i] >= ML_CATEGORIES)
            return -EBADMSG;
    if (ml_vec_reserve(&ret->categories, len) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < len; i++)
        ret->categories.items[i] = record->in[i];
    ret->categories.len = len;
    return 0;
}

static int get_labels(const struct ml_record *record, struct ml_classes *ret)
{
    struct ml_rows rows;
    uint64_t row[2], ordinal = 0;
    int more = 0, r = ml_rows_open(record, &rows);

    while (r == 0 && (more = ml_rows_next(&rows, row, 2)) > 0) {
        bool ascends = ret->labels.len == 0 || row[0] > 0;

        if (row[1] >= ML_ID_MAX || row[0] >= ret->categories.len - ordinal || !ascends)
            return -EBADMSG;
        ordinal += row[0];
        r = ml_vec_push(&ret->labels, (struct ml_class_label){
                                          .ordinal = ordinal & 0xffffffffffu,
                                          .label = row[1] & (ML_ID_MAX - 1),
                                      });
    }
    return r < 0 ? r : more;
}

static int read_classes(const struct ml_checkpoints *c, const struct ml_checkpoint *checkpoint,
                        struct ml_buf *bytes, struct ml_classes *ret)
{
    const uint8_t *in, *end;
    struct ml_record record;
    int more, r = ml_trace_read_section(c->file, checkpoint->classes, ML_BLOCK_CLASSES, bytes);

    in = bytes->data;
    end = in + bytes->len;
    while (r == 0 && (more = ml_record_next(&in, end, &record)) != 0) {
        if (more < 0)
            r = more;
        else if (record.tag == ML_CLASSES_CATEGORIES)
            r = get_categories(&record, ret);
        else if (record.tag == ML_CLASSES_LABELS)
            r = get_labels(&record, ret);
    }
    ret->known = r == 0;
    return r;
}

/* The blocks of the last whole checkpoint, and the differences since. */
static int read_blocks(const struct ml_checkpoints *c, const struct ml_checkpoint *checkpoint,
                       struct ml_buf *bytes, struct ml_replay *replay)
{
    const struct ml_checkpoint *from = checkpoint;
    int r = 0;

    while (!from->whole)
        from--;
    for (; r == 0 && from <= checkpoint; from++) {
        r = ml_trace_read_section(c->file, from->state, ML_BLOCK_CHECKPOINT, bytes);
        if (r == 0)
            r = ml_replay_get_blocks(replay, bytes->data, bytes->data + bytes->len);
    }
    return r;
}

int ml_checkpoint_restore(const struct ml_checkpoints *checkpoints,
                          const struct ml_checkpoint *checkpoint, struct ml_replay *replay,
                          struct ml_classes *ret_classes)
{
    struct ml_buf bytes = {0};
    int r = read_blocks(checkpoints, checkpoint, &bytes, replay);

    *ret_classes = (struct ml_classes){0};
    if (r == 0)
        r = ml_replay_get_state(replay, bytes.data, bytes.data + bytes.len);
    if (r == 0)
        r = ml_replay_find_again(replay);
    if (r == 0 && replay->events != checkpoint->at.event)
        r = -EBADMSG;
    if (r == 0 && checkpoints->classified)
        r = read_classes(checkpoints, checkpoint, &bytes, ret_classes);
    ml_buf_release(&bytes);
    return r;
}

int ml_checkpoint_classes(const struct ml_checkpoints *checkpoints,
                          const struct ml_checkpoint *checkpoint, struct ml_classes *ret)
{
    struct ml_buf bytes = {0};
    int r;

    *ret = (struct ml_classes){0};
    r = read_classes(checkpoints, checkpoint, &bytes, ret);
    ml_buf_release(&bytes);
    return r;
}

int ml_checkpoints_restore_end(const struct ml_checkpoints *checkpoints, struct ml_replay *replay)
{
    int r = ml_replay_get_state(replay, checkpoints->end_state, checkpoints->end_state_end);

    return r == 0 && replay->events != checkpoints->last.event ? -EBADMSG : r;
}

static int restore_totals(const struct ml_trace *trace, struct ml_replay *ret)
{
    struct ml_checkpoints checkpoints;
    int r = ml_checkpoints_open(trace, &checkpoints);

    if (r == 0)
        r = ml_replay_init(ret, trace);
    if (r == 0)
        r = ml_checkpoints_restore_end(&checkpoints, ret);
    ml_checkpoints_release(&checkpoints);
    return r;
}

int ml_totals_at_end(const struct ml_trace *trace, struct ml_replay *ret, struct ml_error *err)
{
    int r;

    *ret = (struct ml_replay){0};
    if (restore_totals(trace, ret) == 0)
        return 0;
    ml_replay_release(ret);
    r = ml_replay_init(ret, trace);
    if (r < 0)
        return ml_error_set(err, r, "out of memory");
    r = ml_replay_trace(ret, UINT64_MAX, err);
    ml_replay_release_blocks(ret);
    return r;
}
