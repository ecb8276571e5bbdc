/* live_target.c: see live_target.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "json.h"
#include "live_view.h"
#include "proc_stat.h"
#include "recorded_session.h"
#include "running_traces.h"

static bool has_process(const char *path, uint32_t pid)
{
    struct ml_trace *trace = NULL;
    struct ml_error err = {0};
    bool found = false;

    if (ml_trace_open(path, NULL, &trace, &err) < 0)
        return false;
    for (uint32_t i = 0; !found && i < ml_trace_processes(trace); i++)
        found = ml_trace_process(trace, i)->pid == pid;
    ml_trace_free(trace);
    return found;
}

/* The collector of the recording that the process has joined, which its trace may not say yet.
 * @return 0: not known */
static uint32_t collector_of(uint32_t pid)
{
    struct ml_recorded_session session;
    struct ml_error ignored = {0};
    uint32_t collector = 0;

    if (ml_recorded_session_open((pid_t)pid, false, &session, &ignored))
        return 0;
    if (atomic_load(&session.page->collector.pid_namespace) == ml_proc_pid_namespace())
        collector = atomic_load(&session.page->collector.pid);
    ml_recorded_session_release(&session);
    return collector;
}

static int find_process(uint32_t pid, char **ret, struct ml_error *err)
{
    struct ml_running_traces running;
    uint32_t collector = collector_of(pid);
    const char *path = NULL;
    size_t hidden;

    ml_running_read(&running);
    for (size_t i = 0; !path && i < running.list.len; i++) {
        const struct ml_running_trace *trace = &running.list.items[i];

        if (trace->collector == pid || trace->launcher == pid || trace->collector == collector ||
            has_process(trace->path, pid))
            path = trace->path;
    }
    *ret = path ? strdup(path) : NULL;
    hidden = running.hidden;
    ml_running_release(&running);
    if (!path && hidden > 0)
        return ml_error_set(
            err, -ESRCH,
            "process %u is not in a recording of this user; if another user records "
            "it, sudo memledger live %u shows it",
            pid, pid);
    if (!path)
        return ml_error_set(err, -ESRCH,
                            "process %u is not being recorded; memledger live lists what is", pid);
    return *ret ? 0 : ml_error_set(err, -ENOMEM, "out of memory");
}

int ml_live_target(const char *operand, char **ret_path, struct ml_error *err)
{
    if (access(operand, F_OK) != 0 && operand[0] && strlen(operand) <= 9 &&
        strspn(operand, "0123456789") == strlen(operand))
        return find_process((uint32_t)strtoul(operand, NULL, 10), ret_path, err);
    *ret_path = strdup(operand);
    return *ret_path ? 0 : ml_error_set(err, -ENOMEM, "out of memory");
}

/* ---- The list ------------------------------------------------------------------- */

/* The table of a list, or its JSON. */
struct list {
    const struct ml_style *style;
    struct ml_table table;
    struct ml_json *json; /* NULL: text */
    size_t paused;        /* recordings */
    uint32_t paused_pid;  /* a process of the last of them; 0: none is known */
};

static void text_row(struct list *list, const struct ml_running_trace *trace,
                     const struct ml_live_view *view)
{
    struct ml_table *table = &list->table;

    if (view->pid)
        ml_table_cellf(table, "%u", view->pid);
    else
        ml_table_cell(table, "");
    ml_table_cell(table, view->paused ? "paused" : "recording");
    ml_cells_time(table, view->time_ns);
    ml_cells_bytes(table, list->style, view->bytes);
    ml_cells_bytes(table, list->style, view->peak_bytes);
    ml_table_cell(table, trace->path);
    ml_table_cell(table, view->command);
    if (view->paused) {
        list->paused++;
        list->paused_pid = view->pid;
    }
}

static void json_row(struct ml_json *json, const struct ml_running_trace *trace,
                     const struct ml_live_view *view)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "file", trace->path);
    ml_json_kv_u64(json, "recorder_pid", trace->collector);
    if (view->pid)
        ml_json_kv_u64(json, "pid", view->pid);
    else
        ml_json_kv_null(json, "pid");
    ml_json_kv_bool(json, "paused", view->paused);
    ml_json_kv_cstr(json, "command", view->command);
    ml_json_kv_u64(json, "start_wall_ns", view->start_wall_ns);
    ml_json_kv_u64(json, "time_ns", view->time_ns);
    ml_json_kv_u64(json, "bytes", view->bytes);
    ml_json_kv_u64(json, "peak_bytes", view->peak_bytes);
    ml_json_kv_u64(json, "processes", view->processes.len);
    ml_json_end_object(json);
}

/* A recording that ends meanwhile is left out. */
static void add_rows(const struct ml_running_traces *running, struct list *list)
{
    const struct ml_live_question totals = {.no_rows = true};

    for (size_t i = 0; i < running->list.len; i++) {
        struct ml_following *f = NULL;
        struct ml_live_view view;
        struct ml_error err = {0};

        if (ml_following_open(running->list.items[i].path, &f, &err) < 0)
            continue;
        if (ml_live_view(f, &totals, &view, &err) == 0) {
            if (list->json)
                json_row(list->json, &running->list.items[i], &view);
            else
                text_row(list, &running->list.items[i], &view);
        }
        ml_live_view_release(&view);
        ml_following_free(f);
    }
}

static int list_rows(const struct ml_running_traces *running, const struct ml_style *style,
                     struct ml_buf *out)
{
    static const char *const titles[] = {">process", "state", ">since", ">now",
                                         ">peak",    "file",  "command"};
    struct list list = {.style = style};
    int r;

    ml_table_init(&list.table);
    ml_cells_columns(&list.table, titles, ML_ARRAY_SIZE(titles));
    ml_table_keep(&list.table, 1);
    add_rows(running, &list);
    r = ml_cells_print(&list.table, 0, out, style);
    if (r == 0 && list.paused == 1 && list.paused_pid)
        r = ml_buf_printf(out, "memledger resume %u continues the paused recording\n",
                          list.paused_pid);
    else if (r == 0 && list.paused > 0)
        r = ml_buf_puts(out, "memledger resume PROCESS continues a paused recording\n");
    return r;
}

static int list_text(const struct ml_running_traces *running, const struct ml_style *style,
                     struct ml_buf *out)
{
    int r = 0;

    if (running->list.len == 0 && running->hidden == 0)
        return ml_buf_puts(out,
                           "nothing is being recorded on this machine; memledger run -- PROGRAM "
                           "records a program\n");
    if (running->list.len > 0)
        r = list_rows(running, style, out);
    if (r == 0 && running->hidden > 0)
        r = ml_buf_printf(out,
                          "%zu recording%s of other users cannot be seen; sudo memledger live "
                          "lists them\n",
                          running->hidden, running->hidden == 1 ? "" : "s");
    return r;
}

static int list_json(const struct ml_running_traces *running, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_key(&json, "recordings");
    ml_json_begin_array(&json);
    add_rows(running, &(struct list){.json = &json});
    ml_json_end_array(&json);
    ml_json_kv_u64(&json, "hidden", running->hidden);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

int ml_live_list(bool json, const struct ml_style *style, struct ml_buf *out, struct ml_error *err)
{
    struct ml_running_traces running;
    int r;

    ml_running_read(&running);
    r = json ? list_json(&running, out) : list_text(&running, style, out);
    ml_running_release(&running);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}
