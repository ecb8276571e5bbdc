/* steps_report.c: see steps_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "steps_report.h"

#include <string.h>

#include "category_columns.h"
#include "csv.h"
#include "event_names.h"
#include "health_report.h"
#include "summary_steps.h"

#define FIXED_ROOM 54 /* step, begin, duration, peak, at end and allocations, with gaps */

/* ---- Text -------------------------------------------------------------- */

static struct ml_holding at_peak_of(const struct ml_step *step)
{
    struct ml_holding holding = {.bytes = step->peak_bytes};

    memcpy(holding.by_category, step->category_bytes, sizeof(holding.by_category));
    return holding;
}

static void note_categories(void *all, const struct ml_step *step, enum ml_step_kind kind)
{
    struct ml_holding *holding = all;

    (void)kind;
    for (size_t c = 0; c < ML_CATEGORIES; c++)
        if (holding->by_category[c] == 0 && step->category_bytes[c] > 0)
            holding->by_category[c] = 1;
}

/* Decides which categories get a column: those that occur, by their size in the step with the
 * highest peak. */
static struct ml_holding all_of(const struct ml_steps *steps)
{
    struct ml_holding all = at_peak_of(ml_steps_highest(steps));

    ml_summary_steps_rows(steps, note_categories, &all);
    return all;
}

static void measure(void *columns, const struct ml_step *step, enum ml_step_kind kind)
{
    struct ml_holding row = at_peak_of(step);

    (void)kind;
    ml_category_measure(columns, &row);
}

static struct ml_category_columns choose_columns(const struct ml_steps *steps,
                                                 const struct ml_style *style)
{
    struct ml_holding all = all_of(steps);
    struct ml_category_columns columns = ml_category_columns(&all, style);
    size_t fixed; /* "after" is wider than "step" */

    ml_summary_steps_rows(steps, measure, &columns);
    fixed = FIXED_ROOM + (steps->has_after ? 1 : 0);
    if (style->width > 0)
        ml_category_fit(&columns, &all, style->width > fixed ? style->width - fixed : 0);
    return columns;
}

struct table_of_steps {
    struct ml_table t;
    const struct ml_category_columns *columns;
    const struct ml_style *style;
};

static void put_row(void *ctx, const struct ml_step *step, enum ml_step_kind kind)
{
    struct table_of_steps *table = ctx;
    struct ml_holding at_peak = at_peak_of(step);

    ml_summary_steps_name(&table->t, step, kind);
    ml_cells_time(&table->t, step->begin_ns);
    ml_cells_time(&table->t, step->end_ns - step->begin_ns);
    ml_cells_bytes(&table->t, table->style, step->peak_bytes);
    ml_cells_bytes(&table->t, table->style, step->end_bytes);
    ml_cells_count(&table->t, step->allocations);
    ml_category_cells(&table->t, table->columns, &at_peak);
}

static int put_table(const struct ml_steps *steps, const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">step", ">begin",  ">duration",
                                         ">peak", ">at end", ">allocs"};
    struct ml_category_columns columns = choose_columns(steps, style);
    struct table_of_steps table = {.columns = &columns, .style = style};
    int r = ml_report_heading(out, style, "By step; categories at each one's peak, in %s",
                              ml_unit_name(columns.unit));

    ml_cells_columns(&table.t, titles, ML_ARRAY_SIZE(titles));
    ml_category_titles(&table.t, &columns);
    ml_summary_steps_rows(steps, put_row, &table);
    r = ml_cells_print(&table.t, r, out, style);
    return r < 0 ? r : ml_category_left_out(&columns, out);
}

static int put_after(const struct ml_steps *steps, const struct ml_style *style, struct ml_buf *out)
{
    char rise[32], peak[32];

    if (!steps->has_after || steps->after_rise_bytes == 0)
        return 0;
    return ml_buf_printf(out,
                         "After the last step live memory rose by %s, to %s; memledger leaks shows "
                         "what grows there.\n",
                         ml_format_bytes(rise, (int64_t)steps->after_rise_bytes, style->unit),
                         ml_format_bytes(peak, (int64_t)steps->after.peak_bytes, style->unit));
}

int ml_steps_text(const struct ml_summary *summary, const char *file, const struct ml_style *style,
                  struct ml_buf *out)
{
    int r = ml_health_text(&summary->health, NULL, style, out);

    if (r == 0)
        r = ml_report_origin(out, summary->command ? summary->command : file,
                             summary->start_wall_ns, summary->host);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0)
        r = put_table(&summary->steps, style, out);
    return r < 0 ? r : put_after(&summary->steps, style, out);
}

/* ---- JSON -------------------------------------------------------------- */

int ml_steps_json(const struct ml_summary *summary, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "command", summary->command);
    ml_json_kv_cstr(&json, "host", summary->host);
    ml_json_kv_u64(&json, "start_wall_ns", summary->start_wall_ns);
    ml_json_kv_u64(&json, "lost", summary->health.lost);
    ml_health_json(&summary->health, &json);
    ml_summary_steps_json(&summary->steps, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

static int step_csv(const struct ml_step *step, struct ml_buf *out)
{
    const uint64_t values[] = {step->number,     step->begin_ns,  step->end_ns,
                               step->peak_bytes, step->end_bytes, step->allocations};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(values) && r == 0; i++)
        r = ml_csv_u64(out, values[i]);
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_u64(out, step->category_bytes[ml_category_order[i]]);
    return r < 0 ? r : ml_csv_end(out);
}

int ml_steps_csv(const struct ml_steps *steps, struct ml_buf *out)
{
    static const char *const titles[] = {"step",       "begin_ns",  "end_ns",
                                         "peak_bytes", "end_bytes", "allocations"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(titles) && r == 0; i++)
        r = ml_csv_text(out, titles[i]);
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_text(out, ml_category_name(ml_category_order[i]));
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < steps->list.len && r == 0; i++)
        r = step_csv(&steps->list.items[i], out);
    return r;
}
