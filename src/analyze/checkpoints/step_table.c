/* step_table.c: see step_table.h.
 *
 * Steps resemble each other: from the end of one to the peak of the next, and from there to its
 * end, are nearly as many events and nanoseconds as in the step before. A column has how much these
 * distances change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "step_table.h"

#include <errno.h>
#include <string.h>

#include "checkpoint_tags.h"
#include "number_rows.h"
#include "varint.h"

/* A step, and the distances from the step before to it. */
struct walk {
    uint64_t row[ML_STEPS_FIELDS];
    uint64_t distances[ML_STEPS_FIELDS];
};

/* What each field's distance is from: the number before, the end before, or this step's peak. */
static uint64_t origin_of(const struct walk *w, const uint64_t *row, size_t field)
{
    switch (field) {
    case ML_STEPS_PEAK_EVENT: return w->row[ML_STEPS_END_EVENT];
    case ML_STEPS_PEAK_NS: return w->row[ML_STEPS_END_NS];
    case ML_STEPS_END_EVENT: return row[ML_STEPS_PEAK_EVENT];
    case ML_STEPS_END_NS: return row[ML_STEPS_PEAK_NS];
    default: return w->row[field];
    }
}

/* ---- Writing ------------------------------------------------------------------- */

static int put_step(struct walk *w, const struct ml_step_instants *step, struct ml_buf *columns)
{
    const uint64_t row[ML_STEPS_FIELDS] = {step->number, step->peak.event, step->peak.time_ns,
                                           step->end.event, step->end.time_ns};

    for (size_t i = 0; i < ML_STEPS_FIELDS; i++) {
        uint64_t distance = row[i] - origin_of(w, row, i);

        if (ml_number_put(&columns[i], ml_zigzag((int64_t)(distance - w->distances[i]))) < 0)
            return -ENOMEM;
        w->distances[i] = distance;
    }
    memcpy(w->row, row, sizeof(row));
    return 0;
}

static int put_columns(const struct ml_buf *columns, uint64_t rows, struct ml_buf *out)
{
    struct ml_buf body = {0};
    int r = ml_number_put(&body, rows);

    for (size_t i = 0; r == 0 && i < ML_STEPS_FIELDS; i++) {
        r = ml_number_put(&body, columns[i].len);
        if (r == 0 && columns[i].len > 0)
            r = ml_buf_append(&body, columns[i].data, columns[i].len);
    }
    if (r == 0)
        r = ml_record_put(out, ML_DIRECTORY_STEP_COLUMNS, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

int ml_step_table_put(const struct ml_named_instants *named, struct ml_buf *out)
{
    struct ml_buf columns[ML_STEPS_FIELDS] = {0};
    struct walk walk = {0};
    uint64_t rows = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < named->steps.len; i++) {
        if (!named->steps.items[i].found)
            continue;
        r = put_step(&walk, &named->steps.items[i], columns);
        rows++;
    }
    if (r == 0)
        r = put_columns(columns, rows, out);
    for (size_t i = 0; i < ML_STEPS_FIELDS; i++)
        ml_buf_release(&columns[i]);
    return r;
}

/* ---- Reading ------------------------------------------------------------------- */

static struct ml_checkpoint_step step_of(const uint64_t *row)
{
    return (struct ml_checkpoint_step){
        .number = row[ML_STEPS_NUMBER],
        .peak = {row[ML_STEPS_PEAK_EVENT], row[ML_STEPS_PEAK_NS]},
        .end = {row[ML_STEPS_END_EVENT], row[ML_STEPS_END_NS]},
    };
}

/* The table of older files: each row has the differences to the one before. */
static int find_in_rows(const struct ml_record *record, uint64_t number,
                        struct ml_checkpoint_step *ret)
{
    uint64_t row[ML_STEPS_FIELDS] = {0}, change[ML_STEPS_FIELDS];
    struct ml_rows rows;
    int more = ml_rows_open(record, &rows);

    while (more == 0 && (more = ml_rows_next(&rows, change, ML_STEPS_FIELDS)) > 0) {
        for (size_t i = 0; i < ML_STEPS_FIELDS; i++)
            row[i] += (uint64_t)ml_unzigzag(change[i]);
        if (row[ML_STEPS_NUMBER] == number) {
            *ret = step_of(row);
            return 1;
        }
        more = 0;
    }
    return more;
}

struct column {
    const uint8_t *in, *end;
};

/* @return the number of rows, or -EBADMSG */
static int64_t open_columns(const struct ml_record *record, struct column *ret)
{
    const uint8_t *in = record->in;
    uint64_t rows = 0, len;

    in = ml_varint_get(in, record->end, &rows);
    for (size_t i = 0; in && i < ML_STEPS_FIELDS; i++) {
        in = ml_varint_get(in, record->end, &len);
        if (!in || len > (size_t)(record->end - in) || rows > len)
            return -EBADMSG;
        ret[i] = (struct column){in, in + len};
        in += len;
    }
    return in ? (int64_t)rows : -EBADMSG;
}

static int next_step(struct walk *w, struct column *columns)
{
    uint64_t row[ML_STEPS_FIELDS] = {0}, change;

    for (size_t i = 0; i < ML_STEPS_FIELDS; i++) {
        columns[i].in = ml_varint_get(columns[i].in, columns[i].end, &change);
        if (!columns[i].in)
            return -EBADMSG;
        w->distances[i] += (uint64_t)ml_unzigzag(change);
        row[i] = origin_of(w, row, i) + w->distances[i];
    }
    memcpy(w->row, row, sizeof(row));
    return 0;
}

static int find_in_columns(const struct ml_record *record, uint64_t number,
                           struct ml_checkpoint_step *ret)
{
    struct column columns[ML_STEPS_FIELDS];
    struct walk walk = {0};
    int64_t rows = open_columns(record, columns);

    for (; rows > 0; rows--) {
        if (next_step(&walk, columns) < 0)
            return -EBADMSG;
        if (walk.row[ML_STEPS_NUMBER] == number) {
            *ret = step_of(walk.row);
            return 1;
        }
    }
    return (int)rows;
}

int ml_step_table_find(const struct ml_buf *section, uint64_t number,
                       struct ml_checkpoint_step *ret)
{
    const uint8_t *in = section->data;
    struct ml_record record;

    if (ml_record_next(&in, section->data + section->len, &record) != 1)
        return -EBADMSG;
    switch (record.tag) {
    case ML_DIRECTORY_STEPS: return find_in_rows(&record, number, ret);
    case ML_DIRECTORY_STEP_COLUMNS: return find_in_columns(&record, number, ret);
    default: return -EBADMSG;
    }
}
