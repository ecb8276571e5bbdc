/* summary_steps.c: see summary_steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary_steps.h"

#include <inttypes.h>

#include "cells.h"
#include "event_names.h"
#include "summary_samples.h"

#define STEPS_SHOWN 12 /* --json lists all */

/* ---- Text -------------------------------------------------------------- */

int ml_summary_steps_line(const struct ml_steps *steps, const struct ml_style *style,
                          struct ml_buf *out)
{
    const struct ml_step *highest = ml_steps_highest(steps);
    char count[32], first[32], last[32], most[32];

    if (steps->list.len < 2)
        return 0;
    return ml_summary_line(
        out, style, "steps", ml_format_count(count, (int64_t)steps->list.len),
        "peak %s in step %llu; in the first %s, in the last %s",
        ml_format_bytes(most, (int64_t)highest->peak_bytes, style->unit),
        (unsigned long long)highest->number,
        ml_format_bytes(first, (int64_t)steps->list.items[0].peak_bytes, style->unit),
        ml_format_bytes(last, (int64_t)steps->list.items[steps->list.len - 1].peak_bytes,
                        style->unit));
}

void ml_summary_steps_rows(const struct ml_steps *steps, ml_step_row_function *put, void *ctx)
{
    size_t next = 0;

    for (size_t i = 0; i < steps->list.len; i++) {
        const struct ml_step *step = &steps->list.items[i];

        for (; next < steps->evaluations.len &&
               steps->evaluations.items[next].begin_ns < step->begin_ns;
             next++)
            put(ctx, &steps->evaluations.items[next], ML_ROW_EVALUATION);
        put(ctx, step, ML_ROW_STEP);
    }
    for (; next < steps->evaluations.len; next++)
        put(ctx, &steps->evaluations.items[next], ML_ROW_EVALUATION);
    if (steps->has_after)
        put(ctx, &steps->after, ML_ROW_AFTER);
}

void ml_summary_steps_name(struct ml_table *t, const struct ml_step *step, enum ml_step_kind kind)
{
    switch (kind) {
    case ML_ROW_EVALUATION: ml_table_cell(t, "eval"); break;
    case ML_ROW_AFTER: ml_table_cell(t, "after"); break;
    case ML_ROW_STEP: ml_table_cellf(t, "%llu", (unsigned long long)step->number); break;
    }
}

struct table_of_steps {
    struct ml_table t;
    const struct ml_style *style;
};

static void put_row(void *ctx, const struct ml_step *step, enum ml_step_kind kind)
{
    struct table_of_steps *table = ctx;
    struct ml_table *t = &table->t;

    ml_summary_steps_name(t, step, kind);
    ml_cells_time(t, step->begin_ns);
    ml_cells_time(t, step->end_ns);
    ml_cells_bytes(t, table->style, step->peak_bytes);
    ml_cells_time(t, step->peak_time_ns);
    ml_cells_bytes(t, table->style, step->end_bytes);
    ml_cells_count(t, step->allocations);
    ml_cells_count(t, step->frees);
}

int ml_summary_steps_table(const struct ml_steps *steps, const struct ml_style *style,
                           struct ml_buf *out)
{
    static const char *const titles[] = {">step", ">began",       ">ended",       ">peak",
                                         ">at",   ">left at end", ">allocations", ">frees"};
    struct table_of_steps table = {.style = style};
    int r;

    if (steps->list.len < 2 || steps->list.len > STEPS_SHOWN)
        return 0;
    r = steps->pids.len < 2
            ? ml_report_heading(out, style, "By step")
            : ml_report_heading(out, style,
                                "By step of process %" PRIu32
                                ", with the memory of all; memledger steps shows each process",
                                steps->pid);
    ml_cells_columns(&table.t, titles, ML_ARRAY_SIZE(titles));
    ml_summary_steps_rows(steps, put_row, &table);
    return ml_cells_print(&table.t, r, out, style);
}

/* ---- JSON -------------------------------------------------------------- */

static void devices_json(const struct ml_steps *steps, const struct ml_step *step,
                         struct ml_json *json)
{
    ml_json_key(json, "by_device");
    ml_json_begin_array(json);
    for (size_t i = 0; i < step->device_count; i++) {
        const struct ml_step_device *device = &steps->devices.items[step->first_device + i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "device", steps->device_names.items[device->device]);
        ml_json_kv_u64(json, "peak_bytes", device->peak_bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void categories_json(const struct ml_step *step, struct ml_json *json)
{
    ml_json_key(json, "by_category");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        if (step->category_bytes[i] == 0)
            continue;
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "category", ml_category_name(i));
        ml_json_kv_u64(json, "at_peak_bytes", step->category_bytes[i]);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void step_json(const struct ml_steps *steps, const struct ml_step *step,
                      enum ml_step_kind kind, struct ml_json *json)
{
    ml_json_begin_object(json);
    if (kind != ML_ROW_AFTER)
        ml_json_kv_u64(json, kind == ML_ROW_STEP ? "step" : "before_step", step->number);
    ml_json_kv_u64(json, "begin_ns", step->begin_ns);
    ml_json_kv_u64(json, "end_ns", step->end_ns);
    if (step->paused_ns)
        ml_json_kv_u64(json, "paused_ns", step->paused_ns);
    ml_json_kv_u64(json, "peak_bytes", step->peak_bytes);
    ml_json_kv_u64(json, "peak_time_ns", step->peak_time_ns);
    ml_json_kv_u64(json, "end_bytes", step->end_bytes);
    ml_json_kv_u64(json, "allocations", step->allocations);
    ml_json_kv_u64(json, "frees", step->frees);
    devices_json(steps, step, json);
    categories_json(step, json);
    ml_json_end_object(json);
}

void ml_summary_steps_json(const struct ml_steps *steps, struct ml_json *json)
{
    ml_json_key(json, "steps");
    ml_json_begin_array(json);
    for (size_t i = 0; i < steps->list.len; i++)
        step_json(steps, &steps->list.items[i], ML_ROW_STEP, json);
    ml_json_end_array(json);
    ml_json_key(json, "evaluations");
    ml_json_begin_array(json);
    for (size_t i = 0; i < steps->evaluations.len; i++)
        step_json(steps, &steps->evaluations.items[i], ML_ROW_EVALUATION, json);
    ml_json_end_array(json);
    ml_json_key(json, "after_steps");
    if (steps->has_after)
        step_json(steps, &steps->after, ML_ROW_AFTER, json);
    else
        ml_json_null(json);
}
