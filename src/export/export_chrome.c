/* export_chrome.c: the run as a Chrome trace, for chrome://tracing and Perfetto.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "chrome_flows.h"
#include "chrome_memory_curves.h"
#include "chrome_slices.h"
#include "classify.h"
#include "exporter.h"

struct work {
    struct ml_chrome chrome;
    struct ml_replay replay;
    struct ml_chrome_memory memory;
    struct ml_chrome_slices slices;
    struct ml_chrome_flows flows;
};

/* ---- Names -------------------------------------------------------------- */

static void name_process(struct ml_chrome *c, uint32_t process)
{
    const char *command =
        ml_trace_string(c->trace, ml_trace_process(c->trace, process)->command, NULL);
    struct ml_chrome_track track = {ml_chrome_pid(c, process), 0};

    ml_chrome_name(c, "process_name", track, command[0] ? command : "process");
}

static void name_thread(struct ml_chrome *c, uint32_t thread)
{
    struct ml_chrome_track track = ml_chrome_thread(c, thread);
    const char *name = ml_trace_string(c->trace, ml_trace_thread(c->trace, thread)->name, NULL);
    char number[32];

    snprintf(number, sizeof(number), "thread %u", track.tid);
    ml_chrome_name(c, "thread_name", track, name[0] ? name : number);
}

static void put_names(struct ml_chrome *c)
{
    struct ml_chrome_track machine = {ML_CHROME_MACHINE_PID, 0};

    ml_chrome_name(c, "process_name", machine, "memory");
    ml_chrome_sort(c, "process_sort_index", machine, -1);
    for (uint32_t i = 0; i < ml_trace_processes(c->trace); i++)
        if (ml_trace_process(c->trace, i)->how != 0)
            name_process(c, i);
    for (uint32_t i = 0; i < ml_trace_threads(c->trace); i++)
        name_thread(c, i);
}

/* ---- Events ------------------------------------------------------------- */

static void on_open(void *ctx, const struct ml_block *block)
{
    ml_chrome_flows_open(&((struct work *)ctx)->flows, block);
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    ml_chrome_flows_close(&((struct work *)ctx)->flows, block, event);
}

static int put_event(struct work *w, const struct ml_event *event)
{
    int r = ml_replay_feed(&w->replay, event);

    if (r < 0)
        return r;
    ml_chrome_slices_event(&w->slices, event);
    ml_chrome_memory_event(&w->memory, event);
    return w->chrome.json.error ? w->chrome.json.error
           : w->slices.error    ? w->slices.error
           : w->memory.error    ? w->memory.error
                                : w->flows.error;
}

static int put_events(struct work *w, struct ml_progress *progress, struct ml_error *err)
{
    uint64_t end_ns = ml_trace_info(w->chrome.trace)->end_ns;
    struct ml_cursor *cursor = NULL;
    const struct ml_event *events;
    int n, r = ml_cursor_open(w->chrome.trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++)
            r = put_event(w, &events[i]);
        if (r == 0)
            ml_progress_tell(progress, events[n - 1].time_ns, end_ns);
    }
    ml_cursor_free(cursor);
    return r;
}

static int write_file(struct work *w, const struct ml_trace *trace, struct ml_output *out,
                      struct ml_progress *progress, struct ml_error *err)
{
    int r;

    ml_chrome_open(&w->chrome, trace, out);
    put_names(&w->chrome);
    r = put_events(w, progress, err);
    if (r < 0)
        return r;
    ml_chrome_slices_finish(&w->slices);
    ml_chrome_gauges_flush(&w->memory.gauges);
    return ml_chrome_close(&w->chrome);
}

static int find_peak(const struct ml_trace *trace, uint64_t *ret_bytes, struct ml_error *err)
{
    struct ml_replay replay;
    int r = ml_replay_init(&replay, trace);

    if (r == 0)
        r = ml_replay_trace(&replay, UINT64_MAX, err);
    *ret_bytes = replay.bytes.peak_bytes;
    ml_replay_release(&replay);
    return r;
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_classes classes;
    uint64_t peak_bytes;
    struct work *w = calloc(1, sizeof(*w));
    int r = w ? ml_classify(trace, &classes, err) : -ENOMEM;

    if (!w)
        return r;
    if (r == 0)
        r = find_peak(trace, &peak_bytes, err);
    if (r == 0)
        r = ml_replay_init(&w->replay, trace);
    ml_chrome_slices_init(&w->slices, &w->chrome);
    if (r == 0) {
        ml_replay_classify(&w->replay, &classes);
        w->replay.on_open = on_open;
        w->replay.on_close = on_close;
        w->replay.ctx = w;
        w->chrome.trace = trace;
        ml_chrome_memory_init(&w->memory, &w->chrome, &w->replay);
        ml_chrome_flows_init(&w->flows, &w->chrome, &w->replay, peak_bytes);
        r = write_file(w, trace, out, opts->progress, err);
    }
    ml_chrome_flows_release(&w->flows);
    ml_chrome_slices_release(&w->slices);
    ml_chrome_memory_release(&w->memory);
    ml_replay_release(&w->replay);
    ml_classes_release(&classes);
    free(w);
    return r;
}

const struct ml_exporter ml_exporter_chrome = {
    .name = "chrome",
    .suffix = ".trace.json",
    .help = "for chrome://tracing and Perfetto",
    .whole_run = true,
    .all_devices = true,
    .run = export_trace,
};
