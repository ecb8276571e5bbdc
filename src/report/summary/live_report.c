/* live_report.c: see live_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_report.h"

#include <stdio.h>

#include "cells.h"
#include "json.h"
#include "memledger/memledger.h"
#include "paragraph.h"
#include "stack_report.h"
#include "summary_report.h"
#include "text.h"

const char *ml_live_growth(char buf[40], int64_t bytes, enum ml_unit unit)
{
    char number[32];

    snprintf(buf, 40, "%s%s", bytes > 0 ? "+" : "", ml_format_bytes(number, bytes, unit));
    return buf;
}

static const char *paused_words(char buf[ML_LIVE_STATE_ROOM], const struct ml_live_view *view)
{
    uint64_t begin_ns = ml_min_u64(view->paused_at_ns, view->time_ns);
    char length[32], pid[16] = "PID";

    if (view->pid)
        snprintf(pid, sizeof(pid), "%u", view->pid);
    snprintf(buf, ML_LIVE_STATE_ROOM, "paused for %s (memledger resume %s continues it)",
             ml_format_duration_ns(length, (int64_t)(view->time_ns - begin_ns)), pid);
    return buf;
}

const char *ml_live_state_words(char buf[ML_LIVE_STATE_ROOM], const struct ml_live_view *view)
{
    char ago[32];

    if (view->finished)
        return "ended";
    if (!view->being_recorded)
        return "not finished: its recorder is gone";
    if (view->paused)
        return paused_words(buf, view);
    if (view->events == 0)
        return "recording, no event yet";
    snprintf(buf, ML_LIVE_STATE_ROOM, "recording, last event %s ago",
             ml_format_duration_ns(ago, (int64_t)(view->time_ns - view->last_ns)));
    return buf;
}

const char *ml_live_end_words(char buf[ML_LIVE_END_ROOM], const struct ml_live_view *view,
                              const char *file)
{
    char at[32];

    buf[0] = '\0';
    if (!view->at_end)
        return buf;
    ml_format_duration_ns(at, (int64_t)view->at_end_ns);
    if (view->peak_bytes == 0)
        snprintf(buf, ML_LIVE_END_ROOM, "memledger summary %s shows the whole recording", file);
    else
        snprintf(buf, ML_LIVE_END_ROOM,
                 "%s (%s); memledger summary %s and memledger view %s show the whole recording",
                 view->all_freed ? "the program freed everything: this is the last memory"
                                 : "memory at the end",
                 at, file, file);
    return buf;
}

const char *ml_live_now_title(const struct ml_live_view *view)
{
    return !view->at_end ? "now" : view->all_freed ? "last" : "at end";
}

/* ---- Text ------------------------------------------------------------------------ */

static int device_line(const struct ml_live_view *view, const struct ml_live_device *d,
                       const struct ml_style *style, struct ml_buf *out)
{
    char time[32], now[32], peak[32], growth[40], rate[32];
    int r =
        ml_buf_printf(out, "%s  %s  %s %s  peak %s  last minute %s",
                      ml_format_duration_ns(time, (int64_t)view->time_ns), d->name,
                      ml_live_now_title(view), ml_format_bytes(now, (int64_t)d->bytes, style->unit),
                      ml_format_bytes(peak, (int64_t)d->peak_bytes, style->unit),
                      ml_live_growth(growth, d->growth_bytes, style->unit));

    if (r == 0 && view->steps > 0)
        r = ml_buf_printf(out, "  step %llu", (unsigned long long)view->step_number);
    if (r == 0 && !view->at_end)
        r = ml_buf_printf(out, "  %s allocations/s",
                          ml_format_count(rate, (int64_t)view->allocations_per_second));
    if (r == 0)
        r = ml_buf_printf(out, "%s%s%s\n", view->lost ? "  events lost" : "",
                          view->paused ? "  paused" : "", view->at_end ? "  ended" : "");
    return r;
}

int ml_live_line(const struct ml_live_view *view, const char *file, const struct ml_style *style,
                 struct ml_buf *out)
{
    char words[ML_LIVE_STATE_ROOM], end[ML_LIVE_END_ROOM], time[32];
    int r = 0;

    if (view->devices.len == 0)
        return ml_buf_printf(out, "%s  %s; %s\n",
                             ml_format_duration_ns(time, (int64_t)view->time_ns), ML_LIVE_NO_MEMORY,
                             ml_live_state_words(words, view));
    for (size_t i = 0; r == 0 && i < view->devices.len; i++)
        r = device_line(view, &view->devices.items[i], style, out);
    if (r == 0 && view->at_end)
        r = ml_buf_printf(out, "%s\n", ml_live_end_words(end, view, file));
    return r;
}

static void device_row(struct ml_table *table, const struct ml_live_device *d,
                       const struct ml_style *style)
{
    char text[40];

    ml_table_cell(table, d->name);
    ml_cells_bytes(table, style, d->bytes);
    ml_cells_bytes(table, style, d->peak_bytes);
    ml_table_cell(table, ml_live_growth(text, d->growth_bytes, style->unit));
    ml_table_cell(table,
                  d->ours.known ? ml_format_bytes(text, (int64_t)d->ours.bytes, style->unit) : "");
    ml_table_cell(
        table, d->has_unexplained ? ml_format_bytes(text, d->unexplained_bytes, style->unit) : "");
}

static int put_devices(const struct ml_live_view *view, const struct ml_style *style,
                       struct ml_buf *out)
{
    static const char *const titles[] = {">peak", ">last minute", ">driver", ">unexplained"};
    struct ml_table table;

    if (view->devices.len == 0)
        return ml_buf_puts(out, "\n" ML_LIVE_NO_MEMORY "\n");
    ml_table_init(&table);
    ml_table_column(&table, "device", ML_LEFT);
    ml_table_column(&table, ml_live_now_title(view), ML_RIGHT);
    ml_cells_more_columns(&table, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < view->devices.len; i++)
        device_row(&table, &view->devices.items[i], style);
    return ml_cells_print(&table, ml_buf_puts(out, "\n"), out, style);
}

static void process_row(struct ml_table *table, const struct ml_live_process *p,
                        const struct ml_style *style)
{
    char text[40];

    ml_table_cellf(table, "%u", p->pid);
    ml_table_cell(table, p->role);
    ml_cells_bytes(table, style, p->bytes);
    ml_cells_bytes(table, style, p->peak_bytes);
    ml_table_cell(table, ml_live_growth(text, p->growth_bytes, style->unit));
    ml_table_cellf(table, "%s%s", p->ended ? "(ended) " : "", p->command);
}

/* The shells and helpers of a start script, which would hide the program. */
static bool is_over_and_empty(const struct ml_live_process *p)
{
    return p->ended && p->peak_bytes == 0;
}

/* @top  of those that have ended are listed */
static int put_processes(const struct ml_live_view *view, size_t top, const struct ml_style *style,
                         struct ml_buf *out)
{
    static const char *const titles[] = {">peak", ">last minute", "command"};
    struct ml_table table;
    size_t hidden = 0, ended = 0, shown;
    char number[32];
    int r;

    ml_table_init(&table);
    ml_table_column(&table, "process", ML_RIGHT);
    ml_table_column(&table, "role", ML_LEFT);
    ml_table_column(&table, ml_live_now_title(view), ML_RIGHT);
    ml_cells_more_columns(&table, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < view->processes.len; i++) {
        const struct ml_live_process *p = &view->processes.items[i];

        if (is_over_and_empty(p)) {
            hidden++;
            continue;
        }
        ended += p->ended;
        if (!p->ended || ended <= top)
            process_row(&table, p, style);
    }
    shown = view->processes.len - hidden;
    r = ml_buf_puts(out, "\n");
    if (shown > 0)
        r = ml_cells_print(&table, r, out, style);
    else
        ml_table_release(&table);
    if (r == 0 && ended > top)
        r = ml_buf_printf(out, "%s more process%s ended\n",
                          ml_format_count(number, (int64_t)(ended - top)),
                          ended - top == 1 ? "" : "es");
    if (r == 0 && hidden > 0)
        r = ml_buf_printf(out, "%s%s process%s ended without recorded memory\n",
                          ml_format_count(number, (int64_t)hidden), shown ? " more" : "",
                          hidden == 1 ? "" : "es");
    return r;
}

static int put_rows(const struct ml_live_view *view, const struct ml_live_question *question,
                    const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">share", ">blocks"};
    struct ml_table table;
    int r;

    if (view->devices.len == 0)
        return 0;
    ml_table_init(&table);
    ml_table_column(&table, ml_key_name(question->by), ML_LEFT);
    ml_table_column(&table, ml_live_now_title(view), ML_RIGHT);
    ml_cells_more_columns(&table, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < view->rows.len; i++) {
        const struct ml_live_row *row = &view->rows.items[i];

        if (row->name[0])
            ml_table_cell(&table, row->name);
        else
            ml_table_cellf(&table, "(no %s)", ml_key_name(question->by));
        ml_cells_bytes(&table, style, row->bytes);
        ml_cells_percent(&table, row->percent);
        ml_cells_count(&table, row->blocks);
    }
    if (view->rest_count > 0) {
        ml_table_cellf(&table, "%zu others", view->rest_count);
        ml_cells_bytes(&table, style, view->rest.bytes);
        ml_cells_percent(&table, view->rest.percent);
        ml_cells_count(&table, view->rest.blocks);
    }
    r = ml_cells_print(&table, ml_buf_puts(out, "\n"), out, style);
    if (r == 0 && view->no_lines)
        r = ml_buf_printf(out, "No block has a line: %s.\n", ml_stackless_text(view->stackless));
    return r;
}

static int put_head(const struct ml_live_view *view, const char *file, const struct ml_style *style,
                    struct ml_buf *out)
{
    char words[ML_LIVE_STATE_ROOM], end[ML_LIVE_END_ROOM], time[32], rate[32], length[32];
    int r = ml_report_safe(out, view->command ? view->command : file);

    if (r == 0)
        r = ml_buf_printf(out, "\n%s: %s\n", file, ml_live_state_words(words, view));

    if (r == 0)
        r = ml_buf_puts(out, ml_format_duration_ns(time, (int64_t)view->time_ns));
    if (r == 0 && !view->at_end)
        r = ml_buf_printf(out, ", %s allocations a second",
                          ml_format_count(rate, (int64_t)view->allocations_per_second));
    if (r == 0 && view->steps > 0)
        r = ml_buf_printf(out, ", step %llu", (unsigned long long)view->step_number);
    if (r == 0 && view->step_length_ns > 0)
        r = ml_buf_printf(out, ", the last took %s",
                          ml_format_duration_ns(length, (int64_t)view->step_length_ns));
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && view->lost > 0)
        r = ml_buf_printf(out, "warning: %s events were lost\n",
                          ml_format_count(rate, (int64_t)view->lost));
    if (r == 0 && view->refusals > 0)
        r = ml_buf_printf(out, "memory was refused %s times: memledger oom %s says why\n",
                          ml_format_count(rate, (int64_t)view->refusals), file);
    if (r == 0 && view->at_end)
        r = ml_report_paragraph(out, style, 0, ml_live_end_words(end, view, file));
    return r;
}

int ml_live_text(const struct ml_live_view *view, const struct ml_live_question *question,
                 const char *file, const struct ml_style *style, struct ml_buf *out)
{
    int r = put_head(view, file, style, out);

    if (r == 0)
        r = put_devices(view, style, out);
    if (r == 0)
        r = put_processes(view, question->top, style, out);
    if (r == 0)
        r = put_rows(view, question, style, out);
    if (r == 0 && view->awaits_names)
        r = ml_buf_printf(out, "%s\n", ML_LIVE_AWAITS_NAMES);
    return r;
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_seen(struct ml_json *json, const char *key, const struct ml_seen *seen)
{
    if (seen->known)
        ml_json_kv_u64(json, key, seen->bytes);
}

static void json_device(struct ml_json *json, const struct ml_live_device *d)
{
    static const char *const levels[] = {[MEMLEDGER_DRIVER] = "driver_bytes",
                                         [MEMLEDGER_POOL] = "pool_bytes",
                                         [MEMLEDGER_BLOCK] = "block_bytes"};

    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", d->name);
    ml_json_kv_u64(json, "bytes", d->bytes);
    ml_json_kv_u64(json, "peak_bytes", d->peak_bytes);
    ml_json_kv_u64(json, "peak_time_ns", d->peak_time_ns);
    ml_json_kv_i64(json, "minute_growth_bytes", d->growth_bytes);
    for (int i = 1; i < ML_LEVELS; i++)
        ml_json_kv_u64(json, levels[i], d->levels[i]);
    json_seen(json, "used_bytes", &d->used);
    json_seen(json, "total_bytes", &d->total);
    json_seen(json, "used_by_run_bytes", &d->ours);
    if (d->has_unexplained)
        ml_json_kv_i64(json, "unexplained_bytes", d->unexplained_bytes);
    ml_json_end_object(json);
}

static void json_process(struct ml_json *json, const struct ml_live_process *p)
{
    const struct ml_process_names names = {p->pid, p->command, p->role, p->rank};

    ml_json_begin_object(json);
    ml_process_json(&names, json);
    ml_json_kv_bool(json, "ended", p->ended);
    ml_json_kv_u64(json, "bytes", p->bytes);
    ml_json_kv_u64(json, "peak_bytes", p->peak_bytes);
    ml_json_kv_i64(json, "minute_growth_bytes", p->growth_bytes);
    ml_json_end_object(json);
}

static void json_space(struct ml_json *json, const struct ml_live_space *s)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "pid", s->pid);
    ml_json_kv_cstr(json, "device", s->device);
    ml_json_kv_cstr(json, "space", s->name);
    ml_json_kv_u64(json, "bytes", s->bytes);
    ml_json_kv_u64(json, "peak_bytes", s->peak_bytes);
    ml_json_end_object(json);
}

static void json_row(struct ml_json *json, const struct ml_live_row *row)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "name", row->name);
    ml_json_kv_u64(json, "bytes", row->bytes);
    ml_json_kv_u64(json, "blocks", row->blocks);
    ml_json_kv_u64(json, "seen_peak_bytes", row->peak_bytes);
    if (row->has_growth)
        ml_json_kv_i64(json, "minute_growth_bytes", row->growth_bytes);
    else
        ml_json_kv_null(json, "minute_growth_bytes");
    ml_json_end_object(json);
}

static void json_rest(struct ml_json *json, const struct ml_live_view *view)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "rows", view->rest_count);
    ml_json_kv_u64(json, "bytes", view->rest.bytes);
    ml_json_kv_u64(json, "blocks", view->rest.blocks);
    ml_json_end_object(json);
}

static void json_lists(struct ml_json *json, const struct ml_live_view *view)
{
    ml_json_key(json, "devices");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->devices.len; i++)
        json_device(json, &view->devices.items[i]);
    ml_json_end_array(json);
    ml_json_key(json, "processes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->processes.len; i++)
        json_process(json, &view->processes.items[i]);
    ml_json_end_array(json);
    ml_json_key(json, "spaces");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->spaces.len; i++)
        json_space(json, &view->spaces.items[i]);
    ml_json_end_array(json);
    ml_json_key(json, "rows");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->rows.len; i++)
        json_row(json, &view->rows.items[i]);
    ml_json_end_array(json);
}

int ml_live_json(const struct ml_live_view *view, const struct ml_live_question *question,
                 const char *file, bool pretty, struct ml_buf *out)
{
    struct ml_json json;
    int r;

    ml_json_init(&json, out, pretty);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "command", view->command);
    ml_json_kv_cstr(&json, "host", view->host);
    ml_json_kv_u64(&json, "start_wall_ns", view->start_wall_ns);
    ml_json_kv_bool(&json, "being_recorded", view->being_recorded);
    ml_json_kv_bool(&json, "finished", view->finished);
    if (view->at_end) {
        ml_json_kv_u64(&json, "at_end_ns", view->at_end_ns);
        ml_json_kv_bool(&json, "all_freed", view->all_freed);
    }
    ml_json_kv_bool(&json, "paused", view->paused);
    if (view->paused)
        ml_json_kv_u64(&json, "paused_at_ns", view->paused_at_ns);
    ml_json_kv_u64(&json, "time_ns", view->time_ns);
    ml_json_kv_u64(&json, "last_event_ns", view->last_ns);
    ml_json_kv_u64(&json, "events", view->events);
    ml_json_kv_u64(&json, "lost", view->lost);
    ml_json_kv_u64(&json, "refusals", view->refusals);
    ml_json_kv_u64(&json, "allocations", view->allocations);
    ml_json_kv_u64(&json, "frees", view->frees);
    ml_json_kv_double(&json, "allocations_per_second", view->allocations_per_second);
    ml_json_kv_u64(&json, "bytes", view->bytes);
    ml_json_kv_u64(&json, "blocks", view->blocks);
    ml_json_kv_u64(&json, "peak_bytes", view->peak_bytes);
    ml_json_kv_u64(&json, "peak_time_ns", view->peak_time_ns);
    ml_json_kv_u64(&json, "steps", view->steps);
    if (view->steps > 0) {
        ml_json_kv_u64(&json, "step", view->step_number);
        ml_json_kv_u64(&json, "last_step_ns", view->step_length_ns);
        ml_json_kv_u64(&json, "last_step_peak_bytes", view->step_peak_bytes);
    }
    ml_json_kv_cstr(&json, "by", ml_key_name(question->by));
    ml_json_kv_bool(&json, "awaits_names", view->awaits_names);
    json_lists(&json, view);
    ml_json_key(&json, "rest");
    json_rest(&json, view);
    ml_json_end_object(&json);
    r = ml_json_finish(&json);
    return r == 0 && !pretty ? ml_buf_puts(out, "\n") : r;
}
