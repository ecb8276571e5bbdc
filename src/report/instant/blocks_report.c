/* blocks_report.c: see blocks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "blocks_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "cells.h"
#include "event_names.h"
#include "health_report.h"
#include "scope_path.h"
#include "snapshot.h"
#include "stack_report.h"

#define FRAMES_SHOWN 12

static bool contains(const struct ml_lifetime *l, uint64_t addr)
{
    return l->addr <= addr && addr - l->addr < l->bytes;
}

/* ---- Text -------------------------------------------------------------- */

static int put_heading(const struct ml_blocks_report *report, const struct ml_style *style,
                       struct ml_buf *out)
{
    const struct ml_lifetimes *found = report->lifetimes;
    char from[32], to[32], shown[32], all[32];

    ml_format_duration_ns(from, (int64_t)found->from_ns);
    ml_format_duration_ns(to, (int64_t)found->to_ns);
    ml_format_count(shown, (int64_t)found->list.len);
    ml_format_count(all, (int64_t)found->blocks);
    if (report->near)
        return ml_report_heading(out, style, "The block at 0x%" PRIx64 " and its neighbours at %s",
                                 *report->near, from);
    if (found->from_ns == found->to_ns)
        return ml_report_heading(out, style, "The largest %s of %s blocks at %s", shown, all, from);
    return ml_report_heading(out, style, "The largest %s of %s blocks, %s, from %s to %s", shown,
                             all, ml_report_size(style, found->bytes).text, from, to);
}

static const char *name_of(const struct ml_lifetime *l)
{
    if (*l->label)
        return l->label;
    if (*l->line)
        return l->line;
    if (*l->function)
        return l->function;
    return l->stack ? l->owner : "";
}

static void block_row(struct ml_table *t, const struct ml_lifetime *l, const struct ml_style *style)
{
    ml_cells_bytes(t, style, l->bytes);
    ml_cells_time(t, l->begin_ns);
    if (l->ended)
        ml_cells_time(t, l->end_ns - l->begin_ns);
    else
        ml_table_cell(t, "not freed");
    ml_table_cellf(t, "0x%" PRIx64, l->addr);
    ml_table_cell(t, l->device);
    ml_table_cell(t, ml_category_name(l->category));
    ml_table_cell(t, l->module);
    ml_table_cell(t, name_of(l));
}

static int put_rows(const struct ml_blocks_report *report, const struct ml_style *style,
                    struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">allocated", ">life",  ">address",
                                         "device", "category",   "module", "name"};
    struct ml_table t;

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < report->lifetimes->list.len; i++)
        block_row(&t, &report->lifetimes->list.items[i], style);
    return ml_cells_print(&t, 0, out, style);
}

static int put_stack(const struct ml_blocks_report *report, const struct ml_lifetime *l,
                     const struct ml_style *style, struct ml_buf *out)
{
    struct ml_stack_view view = {0};
    int r = ml_stack_view(report->trace, l->stack, &view);

    if (r == 0 && view.frames.len > 0)
        r = ml_report_heading(out, style, "Stack of 0x%" PRIx64, l->addr);
    if (r == 0 && view.frames.len > 0)
        r = ml_stack_text(&view, "  ", FRAMES_SHOWN, style, out);
    ml_stack_view_release(&view);
    return r;
}

int ml_blocks_text(const struct ml_blocks_report *report, const struct ml_style *style,
                   struct ml_buf *out)
{
    const struct ml_lifetimes *found = report->lifetimes;
    struct ml_snapshot run = {0};
    int r = ml_health_text(&found->health, NULL, style, out);

    ml_snapshot_begin(report->trace, &run);
    if (r == 0)
        r = ml_report_origin(out, run.command ? run.command : report->file, run.start_wall_ns,
                             run.host);
    ml_snapshot_release(&run);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && found->list.len == 0)
        return ml_buf_puts(out, "No such block was live then.\n");
    if (r == 0)
        r = put_heading(report, style, out);
    if (r == 0)
        r = put_rows(report, style, out);
    for (size_t i = 0; r == 0 && report->near && i < found->list.len; i++)
        if (contains(&found->list.items[i], *report->near))
            r = put_stack(report, &found->list.items[i], style, out);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static void string_json(const struct ml_trace *trace, const char *key, uint32_t string,
                        struct ml_json *json)
{
    ml_json_kv_cstr(json, key, string ? ml_trace_string(trace, string, NULL) : NULL);
}

static void scope_json(const struct ml_trace *trace, uint32_t scope, struct ml_json *json)
{
    struct ml_buf path = {0};

    if (scope && ml_scope_path(trace, scope, &path) == 0)
        ml_json_kv_string(json, "scope", (const char *)path.data, path.len);
    else
        ml_json_kv_null(json, "scope");
    ml_buf_release(&path);
}

static void place_json(const struct ml_trace *trace, const struct ml_lifetime *l,
                       struct ml_json *json)
{
    const struct ml_thread *thread = ml_trace_thread(trace, l->thread);

    ml_json_kv_cstr(json, "device", l->device);
    string_json(trace, "space", ml_trace_space(trace, l->space)->name, json);
    ml_json_kv_u64(json, "pid", ml_trace_process(trace, thread->process)->pid);
    ml_json_kv_u64(json, "tid", thread->tid);
    string_json(trace, "thread", thread->name, json);
    if (l->has_stream)
        ml_json_kv_u64(json, "stream", l->stream);
    else
        ml_json_kv_null(json, "stream");
}

static void names_json(const struct ml_trace *trace, const struct ml_lifetime *l,
                       struct ml_json *json)
{
    struct ml_stack_view view = {0};

    ml_json_kv_cstr(json, "category", ml_category_name(l->category));
    ml_json_kv_cstr(json, "label", or_null(l->label));
    ml_json_kv_cstr(json, "module", or_null(l->module));
    scope_json(trace, l->scope, json);
    string_json(trace, "phase", l->phase, json);
    ml_json_kv_cstr(json, "line", or_null(l->line));
    ml_json_kv_cstr(json, "function", or_null(l->function));
    if (ml_stack_view(trace, l->stack, &view) == 0 && view.frames.len > 0)
        ml_stack_json(&view, json);
    ml_stack_view_release(&view);
}

static void block_json(const struct ml_blocks_report *report, const struct ml_lifetime *l,
                       struct ml_json *json)
{
    char address[32];

    snprintf(address, sizeof(address), "0x%" PRIx64, l->addr);
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "address", address);
    ml_json_kv_u64(json, "bytes", l->bytes);
    ml_json_kv_u64(json, "requested_bytes", l->requested_bytes);
    ml_json_kv_u64(json, "begin_ns", l->begin_ns);
    if (l->ended)
        ml_json_kv_u64(json, "end_ns", l->end_ns);
    else
        ml_json_kv_null(json, "end_ns");
    place_json(report->trace, l, json);
    names_json(report->trace, l, json);
    ml_json_end_object(json);
}

void ml_blocks_head_json(const struct ml_blocks_report *report, struct ml_json *json)
{
    const struct ml_lifetimes *found = report->lifetimes;
    struct ml_snapshot run = {0};

    ml_snapshot_begin(report->trace, &run);
    ml_json_kv_cstr(json, "file", report->file);
    ml_json_kv_cstr(json, "command", run.command);
    ml_json_kv_cstr(json, "host", run.host);
    ml_json_kv_u64(json, "start_wall_ns", run.start_wall_ns);
    ml_json_kv_u64(json, "lost", found->health.lost);
    ml_health_json(&found->health, json);
    ml_json_kv_cstr(json, "device", report->device);
    ml_json_kv_u64(json, "from_ns", found->from_ns);
    ml_json_kv_u64(json, "to_ns", found->to_ns);
    ml_json_kv_u64(json, "blocks", found->blocks);
    ml_json_kv_u64(json, "bytes", found->bytes);
    ml_snapshot_release(&run);
}

int ml_blocks_json(const struct ml_blocks_report *report, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_blocks_head_json(report, &json);
    ml_json_key(&json, "list");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < report->lifetimes->list.len; i++)
        block_json(report, &report->lifetimes->list.items[i], &json);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
