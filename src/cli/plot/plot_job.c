/* plot_job.c: live bytes of the ranks of a job over one time, stacked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "job_bands.h"
#include "plot_bands.h"
#include "plot_request.h"
#include "plot_title.h"
#include "timeline_json.h"

#define MARKS_MAX 5000

/* The axis is that of the wall clock, and an empty picture would look like a job without memory. */
static int check(const struct ml_plot_request *q, const struct ml_job_bands *job,
                 struct ml_error *err)
{
    char end[32];

    for (size_t i = 0; i < q->count; i++)
        if (ml_trace_lacks_times(q->traces[i]))
            return ml_error_set(err, -ENODATA, "%s has no times, which --by rank needs",
                                q->names[i]);
    if (q->opts->from_ns >= job->end_ns && q->opts->from_ns > 0)
        return ml_error_set(err, -EINVAL, "--from: the recordings ended at %s",
                            ml_format_duration_ns(end, (int64_t)job->end_ns));
    for (size_t i = 0; i < q->count; i++)
        if (!job->traces.items[i].health.empty)
            return 0;
    return ml_report_empty(&job->traces.items[0].health, q->names[0], err);
}

/* Steps and the other marks are those of the first rank. */
static int put_numbers(const struct ml_plot_request *q, const struct ml_job_bands *job,
                       size_t columns, struct ml_error *err)
{
    const struct ml_job_trace *first = &job->traces.items[job->first_trace];
    const struct ml_timeline *total = &job->bands.total;
    uint64_t to_ns = total->from_ns + total->span_ns;
    struct ml_sample_curves sampled = {0};
    struct ml_reserved_curves reserved = {0};
    struct ml_occasions marks = {0};
    int r = 0;

    if (to_ns >= first->start_ns)
        r = ml_occasions(q->traces[job->first_trace],
                         total->from_ns > first->start_ns ? total->from_ns - first->start_ns : 0,
                         to_ns - first->start_ns, MARKS_MAX, &marks, err);
    for (size_t i = 0; i < marks.list.len; i++)
        marks.list.items[i].time_ns += first->start_ns;
    for (size_t i = 0; i < marks.pauses.len; i++) {
        marks.pauses.items[i].from_ns += first->start_ns;
        marks.pauses.items[i].to_ns += first->start_ns;
    }
    if (r == 0)
        r = ml_timeline_json(&(struct ml_timeline_numbers){.file = q->names[job->first_trace],
                                                           .device = q->picture.device,
                                                           .buckets = columns,
                                                           .trace = q->traces[job->first_trace],
                                                           .bands = &job->bands,
                                                           .job = job,
                                                           .names = q->names,
                                                           .sampled = &sampled,
                                                           .reserved = &reserved,
                                                           .occasions = &marks},
                             q->numbers);
    ml_occasions_release(&marks);
    return r;
}

int ml_draw_job(const struct ml_plot_request *q, struct ml_canvas *canvas, struct ml_error *err)
{
    struct ml_plot_opts picture = q->picture;
    const struct ml_job_opts opts = {.device = picture.device,
                                     .from_ns = q->opts->from_ns,
                                     .to_ns = q->opts->to_ns,
                                     .columns = ml_plot_band_buckets(&picture),
                                     .names = q->names};
    struct ml_job_bands job;
    int r = ml_job_bands((const struct ml_trace *const *)q->traces, q->count, &opts, &job, err);

    if (r == 0)
        r = check(q, &job, err);
    for (size_t i = 0; r == 0 && i < q->count; i++)
        ml_report_warn(&job.traces.items[i].health, q->count > 1 ? q->names[i] : NULL);
    picture.adds_devices = false;
    picture.title = ml_plot_title_of_runs(q, canvas, "live memory of the ranks over time");
    if (r == 0 && q->numbers)
        r = put_numbers(q, &job, opts.columns, err);
    else if (r == 0)
        ml_plot_bands(canvas, &job.bands, NULL, 0, opts.columns, &picture);
    ml_job_bands_release(&job);
    return r;
}
