/* profile_stats.c: see profile_stats.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memledger/memledger.h"
#include "utf8.h"

/* ---- Rows --------------------------------------------------------------- */

enum unit { TIME, MEMORY, COUNTER, UNITS };

struct row {
    const struct ml_profile_track *track;
    const char *category;
    enum unit unit;
    double total, avg, min, max; /* in the unit; total is a counter's last value */
};

typedef ML_VEC(struct row) rows_t;

static const double per_unit[UNITS] = {[TIME] = 1e6, [MEMORY] = 1e3, [COUNTER] = 1};

struct order {
    bool unit_first; /* else the category */
    int sort_by;
    bool ascending;
};

static struct row make_row(const struct ml_profile_tracks *t, const struct ml_profile_track *track)
{
    const struct ml_profile_category *c = &t->categories.items[track->category];
    struct row r = {.track = track, .category = c->name, .unit = TIME};

    if (track->kind == ML_TRACK_COUNTER)
        r.unit = c->memory ? MEMORY : COUNTER;
    r.total = (r.unit == TIME ? track->sum : (double)track->last) / per_unit[r.unit];
    r.avg = track->count ? track->sum / (double)track->count / per_unit[r.unit] : 0;
    r.min = (double)track->min / per_unit[r.unit];
    r.max = (double)track->max / per_unit[r.unit];
    return r;
}

static double sort_value(const struct row *r, int sort_by)
{
    switch (sort_by) {
    case MEMLEDGER_BY_AVG: return r->avg;
    case MEMLEDGER_BY_MIN: return r->min;
    case MEMLEDGER_BY_MAX: return r->max;
    case MEMLEDGER_BY_COUNT: return (double)r->track->count;
    default: return r->total;
    }
}

static int compare(const void *a, const void *b, void *order)
{
    const struct row *x = a, *y = b;
    const struct order *o = order;
    int by_unit = (x->unit > y->unit) - (x->unit < y->unit);
    int by_category = strcmp(x->category, y->category);
    double vx = sort_value(x, o->sort_by), vy = sort_value(y, o->sort_by);
    int by_value = (vx > vy) - (vx < vy);
    int first = o->unit_first ? by_unit : by_category;
    int second = o->unit_first ? by_category : by_unit;

    if (first || second)
        return first ? first : second;
    if (by_value)
        return o->ascending ? by_value : -by_value;
    return strcmp(x->track->name, y->track->name);
}

static int collect(const struct ml_profile_tracks *t, const struct order *o, rows_t *rows)
{
    struct order order = *o;

    for (size_t i = 0; i < t->tracks.len; i++) {
        if (t->tracks.items[i].count && ml_vec_push(rows, make_row(t, &t->tracks.items[i])))
            return -ENOMEM;
    }
    if (rows->len)
        qsort_r(rows->items, rows->len, sizeof(rows->items[0]), compare, &order);
    return 0;
}

/* ---- Table -------------------------------------------------------------- */

#define COLUMNS 5
#define NAME_COLUMNS 25

static const char *const titles[UNITS][COLUMNS] = {
    [TIME] = {"Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)"},
    [MEMORY] = {"Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)", NULL},
    [COUNTER] = {"Total Count", "Last Value", "Min Value", "Max Value", "Avg Value"},
};

static int put_titles(struct ml_buf *out, enum unit unit)
{
    static const char line[] = "----------------";
    int r = ml_buf_printf(out, "%-25s%16s", "Name", titles[unit][0]);

    for (int i = 1; i < COLUMNS && titles[unit][i] && !r; i++)
        r = ml_buf_printf(out, " %16s", titles[unit][i]);
    if (!r)
        r = ml_buf_printf(out, "\n%-25s%16.*s", "----", (int)strlen(titles[unit][0]), line);
    for (int i = 1; i < COLUMNS && titles[unit][i] && !r; i++)
        r = ml_buf_printf(out, " %16.*s", (int)strlen(titles[unit][i]), line);
    return r ? r : ml_buf_puts(out, "\n");
}

/* A control character would break the line or act on the terminal. */
static int put_text(struct ml_buf *out, const char *text)
{
    size_t start = out->len;
    int r = ml_buf_puts(out, text);

    for (size_t i = start; i < out->len && !r; i++) {
        if (out->data[i] < 0x20 || out->data[i] == 0x7f)
            out->data[i] = '?';
    }
    return r;
}

static int put_name(struct ml_buf *out, const char *name)
{
    size_t width = ml_utf8_width(name, strlen(name));
    int r = put_text(out, name);

    return r || width >= NAME_COLUMNS ? r : ml_buf_fill(out, ' ', NAME_COLUMNS - width);
}

static int put_row(struct ml_buf *out, const struct row *row)
{
    int r = put_name(out, row->track->name);

    if (!r)
        r = ml_buf_printf(out, "%16" PRIu64, row->track->count);
    if (!r && row->unit != MEMORY)
        r = ml_buf_printf(out, " %16.4f", row->total);
    return r ? r : ml_buf_printf(out, " %16.4f %16.4f %16.4f\n", row->min, row->max, row->avg);
}

static int put_heading(struct ml_buf *out, const struct row *row)
{
    int r = put_text(out, row->category);

    if (!r)
        r = ml_buf_puts(out, "\n=================\n");
    return r ? r : put_titles(out, row->unit);
}

/* Rows of one category and unit are adjacent; markers have a heading, but
 * no row. */
static int put_section(struct ml_buf *out, const rows_t *rows, size_t *at)
{
    const struct row *first = &rows->items[*at];
    int r = put_heading(out, first);

    for (; *at < rows->len && !r; ++*at) {
        const struct row *row = &rows->items[*at];
        if (strcmp(row->category, first->category) != 0 || row->unit != first->unit)
            break;
        if (row->track->kind != ML_TRACK_MARKER)
            r = put_row(out, row);
    }
    return r ? r : ml_buf_puts(out, "\n");
}

int ml_profile_stats_table(const struct ml_profile_tracks *t, int sort_by, bool ascending,
                           struct ml_buf *out)
{
    struct order order = {.sort_by = sort_by, .ascending = ascending};
    rows_t rows = {0};
    int r = collect(t, &order, &rows);

    if (!r)
        r = ml_buf_puts(out, "\nProfile Statistics:\n"
                             "\tNote the difference in units for different entries.\n");
    for (size_t at = 0; at < rows.len && !r;)
        r = put_section(out, &rows, &at);
    ml_vec_release(&rows);
    return r;
}

/* ---- JSON --------------------------------------------------------------- */

static const char *const unit_keys[UNITS] = {"Time", "Memory", "Counter"};
static const char *const unit_names[UNITS] = {"ms", "kB", "1"};

static void json_row(struct ml_json *json, const struct row *row)
{
    ml_json_key(json, row->track->name);
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "Count", row->track->count);
    if (row->unit != MEMORY)
        ml_json_kv_double(json, row->unit == TIME ? "Total" : "Last", row->total);
    ml_json_kv_double(json, "Min", row->min);
    ml_json_kv_double(json, "Max", row->max);
    ml_json_kv_double(json, "Avg", row->avg);
    ml_json_end_object(json);
}

static void json_category(struct ml_json *json, const rows_t *rows, size_t *at)
{
    const struct row *first = &rows->items[*at];

    ml_json_key(json, first->category);
    ml_json_begin_object(json);
    for (; *at < rows->len; ++*at) {
        const struct row *row = &rows->items[*at];
        if (strcmp(row->category, first->category) != 0 || row->unit != first->unit)
            break;
        if (row->track->kind != ML_TRACK_MARKER)
            json_row(json, row);
    }
    ml_json_end_object(json);
}

int ml_profile_stats_json(const struct ml_profile_tracks *t, int sort_by, bool ascending,
                          struct ml_buf *out)
{
    struct order order = {.unit_first = true, .sort_by = sort_by, .ascending = ascending};
    rows_t rows = {0};
    struct ml_json json;
    size_t at = 0;
    int r = collect(t, &order, &rows);

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    for (int unit = TIME; unit < UNITS; unit++) {
        ml_json_key(&json, unit_keys[unit]);
        ml_json_begin_object(&json);
        while (at < rows.len && rows.items[at].unit == (enum unit)unit)
            json_category(&json, &rows, &at);
        ml_json_end_object(&json);
    }
    ml_json_key(&json, "Unit");
    ml_json_begin_object(&json);
    for (int unit = TIME; unit < UNITS; unit++)
        ml_json_kv_cstr(&json, unit_keys[unit], unit_names[unit]);
    ml_json_end_object(&json);
    ml_json_end_object(&json);
    ml_vec_release(&rows);
    return r ? r : ml_json_finish(&json);
}
