/* steps_report.c: see steps_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "steps_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "category_columns.h"
#include "csv.h"
#include "event_names.h"
#include "health_report.h"
#include "summary_steps.h"

#define FIXED_ROOM 54 /* step, begin, duration, peak, at end and allocations, with gaps */
#define PAUSED_ROOM 10

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
    fixed = FIXED_ROOM + (steps->has_after ? 1 : 0) + (ml_steps_paused(steps) ? PAUSED_ROOM : 0);
    if (style->width > 0)
        ml_category_fit(&columns, &all, style->width > fixed ? style->width - fixed : 0);
    return columns;
}

struct table_of_steps {
    struct ml_table t;
    const struct ml_category_columns *columns;
    const struct ml_style *style;
    bool paused; /* there is a column for it */
};

static void put_row(void *ctx, const struct ml_step *step, enum ml_step_kind kind)
{
    struct table_of_steps *table = ctx;
    struct ml_holding at_peak = at_peak_of(step);

    ml_summary_steps_name(&table->t, step, kind);
    ml_cells_time(&table->t, step->begin_ns);
    ml_cells_time(&table->t, ml_step_duration_ns(step));
    if (table->paused && step->paused_ns)
        ml_cells_time(&table->t, step->paused_ns);
    else if (table->paused)
        ml_table_cell(&table->t, "");
    ml_cells_bytes(&table->t, table->style, step->peak_bytes);
    ml_cells_bytes(&table->t, table->style, step->end_bytes);
    ml_cells_count(&table->t, step->allocations);
    ml_category_cells(&table->t, table->columns, &at_peak);
}

/* "By step", or "Rank 3, process 4711, by step" where several processes have steps. */
static int put_heading(const struct ml_summary *summary, bool several, enum ml_unit unit,
                       const struct ml_style *style, struct ml_buf *out)
{
    const struct ml_summary_process *process = several ? ml_steps_process(summary) : NULL;
    char who[64] = "By step";

    if (process && process->rank)
        snprintf(who, sizeof(who), "Rank %" PRIu32 ", process %" PRIu32 ", by step",
                 process->rank - 1, process->pid);
    else if (process)
        snprintf(who, sizeof(who), "Process %" PRIu32 ", by step", process->pid);
    return ml_report_heading(out, style, "%s; categories at each one's peak, in %s", who,
                             ml_unit_name(unit));
}

static int put_table(const struct ml_summary *summary, bool several, const struct ml_style *style,
                     struct ml_buf *out)
{
    const struct ml_steps *steps = &summary->steps;
    static const char *const times[] = {">step", ">begin", ">duration", ">paused"};
    static const char *const figures[] = {">peak", ">at end", ">allocs"};
    struct ml_category_columns columns = choose_columns(steps, style);
    struct table_of_steps table = {
        .columns = &columns, .style = style, .paused = ml_steps_paused(steps)};
    int r = put_heading(summary, several, columns.unit, style, out);

    ml_cells_columns(&table.t, times, ML_ARRAY_SIZE(times) - !table.paused);
    ml_cells_more_columns(&table.t, figures, ML_ARRAY_SIZE(figures));
    ml_category_titles(&table.t, &columns);
    ml_summary_steps_rows(steps, put_row, &table);
    r = ml_cells_print(&table.t, r, out, style);
    return r < 0 ? r : ml_category_left_out(&columns, out);
}

static int put_after(const struct ml_steps *steps, const struct ml_style *style, struct ml_buf *out)
{
    char rise[32], peak[32];

    if (!ml_steps_grew_after(steps))
        return 0;
    return ml_buf_printf(out,
                         "After the last step live memory rose by %s, to %s; memledger leaks shows "
                         "what grows there.\n",
                         ml_format_bytes(rise, (int64_t)steps->after_rise_bytes, style->unit),
                         ml_format_bytes(peak, (int64_t)steps->after.peak_bytes, style->unit));
}

int ml_steps_text(const struct ml_process_steps *steps, const char *file,
                  const struct ml_style *style, struct ml_buf *out)
{
    const struct ml_summary *first = &steps->list.items[0];
    bool several = first->steps.pids.len > 1;
    int r = ml_health_text(&first->health, NULL, style, out);

    if (r == 0)
        r = ml_report_origin(out, first->command ? first->command : file, first->start_wall_ns,
                             first->host);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    for (size_t i = 0; r == 0 && i < steps->list.len; i++) {
        r = put_table(&steps->list.items[i], several, style, out);
        if (r == 0)
            r = put_after(&steps->list.items[i].steps, style, out);
    }
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void put_process(const struct ml_summary *summary, struct ml_json *json)
{
    const struct ml_summary_process *process = ml_steps_process(summary);

    ml_json_key(json, "pid");
    if (process)
        ml_json_u64(json, process->pid);
    else
        ml_json_null(json);
    ml_json_key(json, "rank");
    if (process && process->rank)
        ml_json_u64(json, process->rank - 1);
    else
        ml_json_null(json);
    ml_summary_steps_json(&summary->steps, json);
}

int ml_steps_json(const struct ml_process_steps *steps, const char *file, struct ml_buf *out)
{
    const struct ml_summary *summary = &steps->list.items[0];
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "command", summary->command);
    ml_json_kv_cstr(&json, "host", summary->host);
    ml_json_kv_u64(&json, "start_wall_ns", summary->start_wall_ns);
    ml_json_kv_u64(&json, "lost", summary->health.lost);
    ml_health_json(&summary->health, &json);
    put_process(summary, &json);
    ml_json_key(&json, "other_processes");
    ml_json_begin_array(&json);
    for (size_t i = 1; i < steps->list.len; i++) {
        ml_json_begin_object(&json);
        put_process(&steps->list.items[i], &json);
        ml_json_end_object(&json);
    }
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

static int step_csv(const struct ml_step *step, const struct ml_summary_process *process,
                    struct ml_buf *out)
{
    const uint64_t values[] = {step->number,     step->begin_ns,  step->end_ns,
                               step->peak_bytes, step->end_bytes, step->allocations};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(values) && r == 0; i++)
        r = ml_csv_u64(out, values[i]);
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_u64(out, step->category_bytes[ml_category_order[i]]);
    if (r == 0)
        r = process ? ml_csv_u64(out, process->pid) : ml_csv_null(out);
    if (r == 0)
        r = process && process->rank ? ml_csv_u64(out, process->rank - 1) : ml_csv_null(out);
    if (r == 0)
        r = ml_csv_u64(out, step->paused_ns);
    return r < 0 ? r : ml_csv_end(out);
}

static int process_csv(const struct ml_summary *summary, struct ml_buf *out)
{
    const struct ml_summary_process *process = ml_steps_process(summary);
    int r = 0;

    for (size_t i = 0; i < summary->steps.list.len && r == 0; i++)
        r = step_csv(&summary->steps.list.items[i], process, out);
    return r;
}

int ml_steps_csv(const struct ml_process_steps *steps, struct ml_buf *out)
{
    static const char *const titles[] = {"step",       "begin_ns",  "end_ns",
                                         "peak_bytes", "end_bytes", "allocations"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(titles) && r == 0; i++)
        r = ml_csv_text(out, titles[i]);
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_text(out, ml_category_name(ml_category_order[i]));
    if (r == 0)
        r = ml_csv_text(out, "pid");
    if (r == 0)
        r = ml_csv_text(out, "rank");
    if (r == 0)
        r = ml_csv_text(out, "paused_ns");
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < steps->list.len && r == 0; i++)
        r = process_csv(&steps->list.items[i], out);
    return r;
}
