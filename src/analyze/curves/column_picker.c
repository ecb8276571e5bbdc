/* column_picker.c: see column_picker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "column_picker.h"

uint64_t ml_columns_edge_ns(const struct ml_columns *columns, size_t i)
{
    ml_u128 whole = (ml_u128)columns->span_ns * (columns->first + i);

    return columns->from_ns + (uint64_t)((whole + columns->of - 1) / columns->of);
}

/* Whether the time is after the last column. The last one of all includes its end, and so events
 * at the very end, such as a label after the last allocation. */
static bool is_past(const struct ml_column_picker *p, uint64_t time_ns)
{
    const struct ml_columns *c = &p->columns;

    return c->first + c->count == c->of ? time_ns > c->from_ns + c->span_ns
                                        : time_ns >= ml_columns_edge_ns(c, c->count);
}

/* Starts a column with the present moment. */
static void begin_column(struct ml_column_picker *p, const struct ml_band_composition *now)
{
    p->column = (struct ml_band_column){
        .moments = {*now, *now},
        .first_bytes = p->total,
        .low_bytes = p->total,
        .high_bytes = p->total,
        .high_ns = ml_columns_edge_ns(&p->columns, p->at),
        .low_first = true,
    };
    p->next_ns = ml_columns_edge_ns(&p->columns, p->at + 1);
}

/* The lower one is the first while `low_first`. */
static void take_lowest(struct ml_column_picker *p, const struct ml_band_composition *now)
{
    if (p->column.low_first)
        p->column.moments[0] = p->column.moments[1];
    p->column.moments[1] = *now;
    p->column.low_bytes = p->total;
    p->column.low_first = false;
}

static void take_highest(struct ml_column_picker *p, const struct ml_band_composition *now)
{
    if (!p->column.low_first)
        p->column.moments[0] = p->column.moments[1];
    p->column.moments[1] = *now;
    p->column.high_bytes = p->total;
    p->column.high_ns = p->since_ns;
    p->column.low_first = true;
}

static int end_column(struct ml_column_picker *p)
{
    p->column.last_bytes = p->total;
    p->at++;
    return p->emit(p->emit_ctx, &p->column);
}

/* Ends the columns before the one with that time; the moment goes on through all of them. */
static int end_columns(struct ml_column_picker *p, uint64_t time_ns,
                       struct ml_band_composition *now, bool composed)
{
    int r = 0;

    if (!composed)
        p->compose(p->ctx, now);
    while (r == 0 && time_ns >= p->next_ns && p->at + 1 < p->columns.count) {
        r = end_column(p);
        begin_column(p, now);
    }
    return r;
}

void ml_picker_begin(struct ml_column_picker *p)
{
    p->from_ns = ml_columns_edge_ns(&p->columns, 0);
}

int ml_picker_leave(struct ml_column_picker *p, uint64_t time_ns)
{
    struct ml_band_composition now;
    bool composed = true;
    int r = 0;

    if (p->ended || time_ns < p->from_ns)
        return 0;
    if (!p->begun) {
        p->compose(p->ctx, &now);
        begin_column(p, &now);
        p->begun = true;
    } else if (p->total < p->column.low_bytes) {
        p->compose(p->ctx, &now);
        take_lowest(p, &now);
    } else if (p->total > p->column.high_bytes) {
        p->compose(p->ctx, &now);
        take_highest(p, &now);
    } else {
        composed = false;
    }
    if (time_ns < p->next_ns)
        return 0;
    r = end_columns(p, time_ns, &now, composed);
    if (r == 0 && is_past(p, time_ns)) {
        r = end_column(p);
        p->ended = true;
    }
    return r;
}

int ml_picker_end(struct ml_column_picker *p, uint64_t end_ns)
{
    int r = ml_picker_leave(p, ml_max_u64(end_ns, p->from_ns));

    if (r < 0 || p->ended)
        return r;
    p->ended = true;
    return end_column(p);
}

/* ---- Two columns as one ---------------------------------------------------- */

static size_t lowest_of(const struct ml_band_column *column)
{
    return column->low_first ? 0 : 1;
}

void ml_column_join(struct ml_band_column *column, const struct ml_band_column *next)
{
    struct ml_band_column first = *column;
    bool low_in_next = next->low_bytes < first.low_bytes;
    bool high_in_next = next->high_bytes > first.high_bytes;
    const struct ml_band_column *low = low_in_next ? next : &first;
    const struct ml_band_column *high = high_in_next ? next : &first;

    column->low_first = low == high ? low->low_first : high_in_next;
    column->moments[column->low_first ? 0 : 1] = low->moments[lowest_of(low)];
    column->moments[column->low_first ? 1 : 0] = high->moments[1 - lowest_of(high)];
    column->low_bytes = low->low_bytes;
    column->high_bytes = high->high_bytes;
    column->high_ns = high->high_ns;
    column->last_bytes = next->last_bytes;
}
