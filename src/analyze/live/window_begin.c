/* window_begin.c: see window_begin.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_begin.h"

#include <stdio.h>

#include "number_rows.h"
#include "window_tags.h"

static uint64_t peak_since(const struct ml_replay *replay, uint64_t space)
{
    for (size_t i = 0; i < replay->spaces.len; i++) {
        if (replay->spaces.items[i].number == space)
            return replay->spaces.items[i].bytes.peak_bytes;
    }
    return 0;
}

static void read_dropped(const struct ml_trace *trace, struct ml_rows *rows,
                         struct ml_window_begin *ret)
{
    uint64_t row[ML_DROPPED_FIELDS];

    if (ml_rows_next(rows, row, ML_DROPPED_FIELDS) <= 0)
        return;
    ret->begin_ns = ml_min_u64(row[ML_DROPPED_BEGIN_NS], ret->end_ns);
    ret->begin_wall_ns = ml_trace_info(trace)->start_wall_ns + ret->begin_ns;
    ret->events = row[ML_DROPPED_EVENTS];
    ret->allocations = row[ML_DROPPED_ALLOCATIONS];
    ret->frees = row[ML_DROPPED_FREES];
    ret->repeated = row[ML_DROPPED_REPEATED];
    ret->made = row[ML_DROPPED_MADE];
    ret->freed = row[ML_DROPPED_FREED];
    ret->refusals = row[ML_DROPPED_REFUSALS];
    ret->steps = row[ML_DROPPED_STEPS];
}

static void name_place(const struct ml_trace *trace, uint32_t number, char *ret, size_t len)
{
    const struct ml_space *space = ml_trace_space(trace, number);

    snprintf(ret, len, "%s %s", ml_trace_string(trace, space->device, NULL),
             ml_trace_string(trace, space->name, NULL));
}

static void read_spaces(const struct ml_replay *replay, struct ml_rows *rows,
                        struct ml_window_begin *ret)
{
    uint64_t row[ML_WINDOW_SPACE_FIELDS];

    while (ml_rows_next(rows, row, ML_WINDOW_SPACE_FIELDS) > 0) {
        uint64_t peak = ml_min_u64(row[ML_WINDOW_SPACE_PEAK_BYTES], ML_BYTES_MAX);

        if (peak <= ret->peak_bytes || peak <= peak_since(replay, row[ML_WINDOW_SPACE_NUMBER]))
            continue;
        ret->peak_bytes = peak;
        ret->peak_ns = row[ML_WINDOW_SPACE_PEAK_NS];
        name_place(replay->trace, (uint32_t)row[ML_WINDOW_SPACE_NUMBER], ret->peak_place,
                   sizeof(ret->peak_place));
    }
}

/* @replay  NULL: peaks are not wanted */
static struct ml_window_begin read_begin(const struct ml_trace *trace,
                                         const struct ml_replay *replay)
{
    struct ml_window_begin found = {0};
    struct ml_buf bytes = {0};
    int64_t section = ml_trace_last_section(trace, ML_BLOCK_WINDOW);
    struct ml_record record;
    struct ml_rows rows;
    const uint8_t *in;

    if (section < 0)
        return found;
    found.is_window = true;
    found.end_ns = ml_trace_info(trace)->end_ns;
    if (ml_trace_read_section(trace, (size_t)section, ML_BLOCK_WINDOW, &bytes) == 0) {
        in = bytes.data;
        while (ml_record_next(&in, bytes.data + bytes.len, &record) > 0) {
            if (ml_rows_open(&record, &rows) < 0)
                continue;
            if (record.tag == ML_WINDOW_DROPPED)
                read_dropped(trace, &rows, &found);
            else if (record.tag == ML_WINDOW_SPACES && replay)
                read_spaces(replay, &rows, &found);
        }
    }
    ml_buf_release(&bytes);
    return found;
}

struct ml_window_begin ml_window_begin_of(const struct ml_replay *replay)
{
    return read_begin(replay->trace, replay);
}

struct ml_window_begin ml_window_begin_of_trace(const struct ml_trace *trace)
{
    return read_begin(trace, NULL);
}

uint64_t ml_trace_kept_from(const struct ml_trace *trace)
{
    return read_begin(trace, NULL).begin_ns;
}

/* @fields  at most ML_WINDOW_SPACE_FIELDS */
static int visit_rows(const struct ml_trace *trace, enum ml_window_tag tag, size_t fields,
                      ml_on_window_row *on_row, void *ctx)
{
    int64_t section = ml_trace_last_section(trace, ML_BLOCK_WINDOW);
    uint64_t row[ML_WINDOW_SPACE_FIELDS];
    struct ml_buf bytes = {0};
    struct ml_record record;
    struct ml_rows rows;
    const uint8_t *in;
    int r = 0;

    if (section >= 0 &&
        ml_trace_read_section(trace, (size_t)section, ML_BLOCK_WINDOW, &bytes) == 0) {
        in = bytes.data;
        while (r == 0 && ml_record_next(&in, bytes.data + bytes.len, &record) > 0)
            if (record.tag == tag && ml_rows_open(&record, &rows) == 0)
                while (r == 0 && ml_rows_next(&rows, row, fields) > 0)
                    r = on_row(ctx, row);
    }
    ml_buf_release(&bytes);
    return r;
}

int ml_window_peaks(const struct ml_trace *trace, ml_on_window_row *on_peak, void *ctx)
{
    return visit_rows(trace, ML_WINDOW_PEAKS, ML_WINDOW_PEAK_FIELDS, on_peak, ctx);
}

int ml_window_spaces(const struct ml_trace *trace, ml_on_window_row *on_space, void *ctx)
{
    return visit_rows(trace, ML_WINDOW_SPACES, ML_WINDOW_SPACE_FIELDS, on_space, ctx);
}
