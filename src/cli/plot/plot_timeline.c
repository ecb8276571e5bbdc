/* plot_timeline.c: live bytes over time: one run as stacked areas, several as curves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "event_names.h"
#include "samples.h"
#include "plot_bands.h"
#include "plot_device.h"
#include "plot_request.h"
#include "plot_series.h"
#include "plot_title.h"
#include "say.h"
#include "timeline_json.h"
#include "timeline_window.h"

struct timelines {
    const struct ml_plot_request *request;
    struct ml_plot_opts picture; /* with the device that is shown */
    size_t buckets;
    struct ml_level_caps caps;
    struct ml_plot_run *runs;
    ml_plot_series_list series;
};

static void release(struct timelines *t)
{
    for (size_t i = 0; t->runs && i < t->request->count; i++) {
        ml_timeline_release(&t->runs[i].timeline);
        ml_sample_curves_release(&t->runs[i].sampled);
    }
    free(t->runs);
    ml_level_caps_release(&t->caps);
    ml_vec_release(&t->series);
}

/* On standard error, not in the picture. */
static void tell_levels(const struct ml_level_caps *caps)
{
    uint32_t cursor = 0, level;
    const char *device;

    while ((device = ml_level_caps_next(caps, &cursor, &level)))
        ml_say("%s is counted at the level %s, the highest that all runs have", device,
               ml_level_name(level));
}

/* A requested device that is missing would give an empty picture. */
static int check_device(const struct ml_trace *trace, const struct ml_plot_run *run,
                        struct ml_error *err)
{
    uint32_t spaces = ml_trace_spaces(trace);
    bool found = !run->device;

    for (uint32_t i = 0; !found && i < spaces; i++)
        found = ml_device_is(ml_trace_string(trace, ml_trace_space(trace, i)->device, NULL),
                             run->device);
    for (size_t i = 0; !found && i < run->sampled.list.len; i++)
        found = ml_device_is(run->sampled.list.items[i].name, run->device);
    return found ? 0
                 : ml_error_set(err, -ENODEV,
                                "%s: there is no device '%s' in this trace; memledger summary "
                                "lists them",
                                run->name, run->device);
}

/* Without blocks and samples the curve would be 0, which is not known. */
static int check_curve(const struct ml_plot_run *run, struct ml_error *err)
{
    if (!ml_health_no_blocks(&run->timeline.health) || ml_plot_run_is_sampled(run))
        return 0;
    return ml_error_set(err, -ENODATA,
                        "%s: the imported file has no figures of memory; MXNet's profiler writes "
                        "them with profile_memory=True",
                        run->name);
}

/* An empty picture would look like a program without memory. Beside other runs, an empty one is
 * a line at 0 and a warning. */
static int check_any(const struct timelines *t, struct ml_error *err)
{
    for (size_t i = 0; i < t->request->count; i++)
        if (!t->runs[i].timeline.health.empty || ml_plot_run_is_sampled(&t->runs[i]))
            return 0;
    return ml_report_empty(&t->runs[0].timeline.health, t->runs[0].name, err);
}

static int read_run(struct timelines *t, size_t i, const struct ml_timeline_opts *opts,
                    struct ml_error *err)
{
    const struct ml_plot_request *q = t->request;
    struct ml_plot_run *run = &t->runs[i];

    run->name = q->names[i];
    run->device = t->picture.device;
    if (ml_timeline(q->traces[i], opts, &run->timeline, err) < 0 ||
        ml_sample_curves(q->traces[i], opts, &run->sampled, err) < 0 ||
        check_device(q->traces[i], run, err) < 0 || check_curve(run, err) < 0)
        return -1;
    ml_report_warn(&run->timeline.health, q->count > 1 ? run->name : NULL);
    return 0;
}

/* The requested time, at most up to the end of the longest run. */
static struct ml_timeline_opts window_of(const struct ml_plot_request *q,
                                         struct ml_timeline_opts opts)
{
    uint64_t end_ns = 0;

    for (size_t i = 0; i < q->count; i++)
        end_ns = ml_max_u64(end_ns, ml_trace_info(q->traces[i])->end_ns);
    if (q->opts->to_ns < end_ns)
        end_ns = q->opts->to_ns;
    opts.from_ns = q->opts->from_ns;
    opts.span_ns = end_ns > opts.from_ns ? end_ns - opts.from_ns : 1;
    return opts;
}

/* The longest run decides the size of a bucket, and all runs decide the level at which a
 * device is counted. */
static int read_runs(struct timelines *t, struct ml_error *err)
{
    const struct ml_plot_request *q = t->request;
    struct ml_timeline_opts opts = {.buckets = t->buckets, .caps = &t->caps};

    t->caps.only_device = t->picture.device;
    opts = window_of(q, opts);
    t->runs = calloc(q->count, sizeof(*t->runs));
    if (!t->runs)
        return -ENOMEM;
    for (size_t i = 0; i < q->count; i++) {
        if (ml_level_caps_add(&t->caps, q->traces[i]) < 0)
            return -ENOMEM;
    }
    for (size_t i = 0; i < q->count; i++)
        if (read_run(t, i, &opts, err) < 0)
            return -1;
    if (check_any(t, err) < 0)
        return -1;
    tell_levels(&t->caps);
    return ml_plot_choose(t->runs, q->count, &t->series);
}

static void set_baselines(struct timelines *t)
{
    for (size_t i = 0; i < t->series.len; i++) {
        struct ml_plot_series *s = &t->series.items[i];

        s->baseline_bytes = ml_baseline_of(&t->request->baseline, s->timeline, t->buckets);
    }
}

static void draw_curves(const struct timelines *t, struct ml_canvas *canvas)
{
    struct ml_plot_opts picture = t->picture;
    bool sampled = ml_plot_run_is_sampled(&t->runs[0]);
    const struct ml_overlay_words words = {
        .what = sampled ? "memory in use" : "live memory",
        .things = sampled ? "samples" : "events",
        .minus = ml_baseline_words(&t->request->baseline, canvas),
    };

    picture.title = ml_plot_title_of_runs(
        t->request, canvas, sampled ? "memory in use over time" : "live memory over time");
    ml_plot_overlay(canvas, t->series.items, t->series.len, t->buckets, &words, &picture);
}

/* Several runs, or one with a baseline, which cannot be subtracted from stacked areas. */
static int draw_several(struct timelines *t, struct ml_canvas *canvas, struct ml_error *err)
{
    int r;

    t->buckets = ml_plot_buckets(&t->picture);
    r = read_runs(t, err);
    if (r == 0) {
        set_baselines(t);
        draw_curves(t, canvas);
    }
    return r;
}

/* Numbers are those of the columns around the requested time that a pyramid has. */
static int read_window(struct timelines *t, enum ml_bands_by by, struct ml_timeline_opts *opts,
                       struct ml_bands *ret, struct ml_error *err)
{
    const struct ml_trace *trace = t->request->traces[0];
    const struct ml_bands_opts bands = {.by = by,
                                        .depth = opts->module_depth,
                                        .device = t->caps.only_device,
                                        .pid = t->caps.only_pid};
    struct ml_columns columns =
        ml_window_columns(trace, opts->from_ns, opts->from_ns + opts->span_ns, t->buckets);
    int r = ml_window_bands(trace, &bands, &columns, ret, err);

    t->buckets = opts->buckets = columns.count;
    opts->from_ns = ret->total.from_ns;
    opts->span_ns = ret->total.span_ns;
    return r;
}

/* The bands contain the timeline, so the trace is read once. */
static int read_one(struct timelines *t, struct ml_bands *ret, struct ml_error *err)
{
    static const enum ml_bands_by sorts[] = {ML_BANDS_CATEGORY, ML_BANDS_MODULE, ML_BANDS_DEVICE,
                                             ML_BANDS_PROCESS};
    const struct ml_plot_request *q = t->request;
    enum ml_bands_by by = sorts[q->opts->by];
    struct ml_timeline_opts opts = window_of(
        q, (struct ml_timeline_opts){
               .buckets = t->buckets, .caps = &t->caps, .module_depth = (size_t)q->opts->depth});
    int r;

    t->caps.only_device = t->picture.device;
    t->caps.only_pid = (uint32_t)q->opts->instant.process;
    r = q->numbers ? read_window(t, by, &opts, ret, err)
                   : ml_bands(q->traces[0], by, &opts, ret, err);
    if (r < 0)
        return r;
    t->runs = calloc(1, sizeof(*t->runs));
    if (!t->runs)
        return -ENOMEM;
    t->runs[0].name = q->names[0];
    t->runs[0].device = t->picture.device;
    t->runs[0].timeline = ret->total;
    r = ml_sample_curves(q->traces[0], &opts, &t->runs[0].sampled, err);
    if (r == 0)
        r = check_device(q->traces[0], &t->runs[0], err);
    if (r == 0)
        r = check_curve(&t->runs[0], err);
    if (r == 0)
        r = check_any(t, err);
    if (r < 0)
        return r;
    ml_report_warn(&ret->total.health, NULL);
    return ml_plot_choose(t->runs, 1, &t->series);
}

/* More would be hard to tell apart on the axis. */
#define OCCASIONS_MAX 5000

static int put_numbers(const struct timelines *t, const struct ml_bands *bands,
                       struct ml_error *err)
{
    const struct ml_plot_request *q = t->request;
    const struct ml_timeline *total = &bands->total;
    const struct ml_timeline_opts window = {
        .buckets = t->buckets, .from_ns = total->from_ns, .span_ns = total->span_ns};
    struct ml_reserved_curves reserved = {0};
    struct ml_occasions occasions;
    int r = ml_occasions(q->traces[0], total->from_ns, total->from_ns + total->span_ns,
                         OCCASIONS_MAX, &occasions, err);

    if (r == 0)
        r = ml_reserved_curves(q->traces[0], &window, &reserved, err);
    if (r == 0)
        r = ml_timeline_json(&(struct ml_timeline_numbers){.file = q->names[0],
                                                           .device = t->picture.device,
                                                           .pid = t->caps.only_pid,
                                                           .depth = (size_t)q->opts->depth,
                                                           .buckets = t->buckets,
                                                           .trace = q->traces[0],
                                                           .bands = bands,
                                                           .sampled = &t->runs[0].sampled,
                                                           .reserved = &reserved,
                                                           .occasions = &occasions},
                             q->numbers);
    ml_reserved_curves_release(&reserved);
    ml_occasions_release(&occasions);
    return r;
}

static int draw_bands(struct timelines *t, const struct ml_bands *bands, struct ml_canvas *canvas,
                      struct ml_error *err)
{
    const struct ml_timeline *total = &bands->total;
    struct ml_occasions pauses = {0};
    struct ml_plot_opts picture = t->picture;
    int r = 0;

    if (total->health.pauses)
        r = ml_occasions(t->request->traces[0], total->from_ns, total->from_ns + total->span_ns, 0,
                         &pauses, err);
    picture.occasions = &pauses;
    if (r == 0)
        ml_plot_bands(canvas, bands, t->series.items + 1, t->series.len - 1, t->buckets, &picture);
    ml_occasions_release(&pauses);
    return r;
}

static int draw_one(struct timelines *t, struct ml_canvas *canvas, struct ml_error *err)
{
    struct ml_bands bands;
    int r;

    t->buckets = ml_plot_band_buckets(&t->picture);
    r = read_one(t, &bands, err);
    if (r == 0 && t->request->numbers)
        r = put_numbers(t, &bands, err);
    else if (r == 0 && ml_plot_run_is_sampled(&t->runs[0]))
        draw_curves(t, canvas); /* samples cannot be stacked */
    else if (r == 0)
        r = draw_bands(t, &bands, canvas, err);
    if (t->runs)
        t->runs[0].timeline = (struct ml_timeline){0}; /* the bands own it */
    ml_bands_release(&bands);
    return r;
}

int ml_draw_timeline(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    struct timelines t = {.request = request, .picture = request->picture};
    bool stacked = request->count == 1 && request->baseline.kind == ML_BASELINE_NONE;
    struct ml_error err = {0};
    int r = 0;

    if (request->opts->by == ML_PLOT_BY_RANK)
        return ml_draw_job(request, canvas, &err) < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
    if (request->opts->instant.process)
        r = ml_snapshot_choose_process(&(struct ml_snapshot){0}, request->traces[0],
                                       (uint32_t)request->opts->instant.process, &err);
    if (r == 0 && request->opts->by != ML_PLOT_BY_DEVICE)
        r = ml_plot_choose_device(request, canvas, &t.picture, &err);
    if (request->opts->instant.process)
        t.picture.others = ml_canvas_printf(
            canvas, "process %u%s%s", (unsigned)request->opts->instant.process,
            t.picture.others ? "; " : "", t.picture.others ? t.picture.others : "");
    if (r == 0)
        r = stacked ? draw_one(&t, canvas, &err) : draw_several(&t, canvas, &err);
    release(&t);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}
