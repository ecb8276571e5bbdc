/* plot_series.c: see plot_series.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot_series.h"

#include "samples.h"

static int add(ml_plot_series_list *ret, const char *name, const struct ml_timeline *timeline,
               bool is_truth)
{
    return ml_vec_push(
        ret, (struct ml_plot_series){.name = name, .timeline = timeline, .is_truth = is_truth});
}

static bool is_asked_for(const struct ml_plot_run *run, const struct ml_sample_curve *c)
{
    return !run->device || ml_device_is(c->is_rss ? ML_HOST_DEVICE : c->name, run->device);
}

/* A GPU on which nothing happened is left out, unless it was requested. */
static bool is_shown(const struct ml_plot_run *run, const struct ml_sample_curve *c)
{
    return is_asked_for(run, c) && (c->is_rss || c->varies || run->device);
}

/* The GPU with the most in use, else the host. */
static const struct ml_sample_curve *main_curve(const struct ml_plot_run *run)
{
    const struct ml_sample_curves *sampled = &run->sampled;
    const struct ml_sample_curve *best = NULL;

    for (size_t i = 0; i < sampled->list.len; i++) {
        const struct ml_sample_curve *c = &sampled->list.items[i];

        if (!is_shown(run, c) || (best && c->is_rss))
            continue;
        if (!best || c->timeline.peak_bytes > best->timeline.peak_bytes)
            best = c;
    }
    return best;
}

bool ml_plot_run_is_sampled(const struct ml_plot_run *run)
{
    return (run->sampled.sample_only || run->timeline.health.empty) && main_curve(run);
}

static int add_one_of_several(const struct ml_plot_run *run, ml_plot_series_list *ret)
{
    const struct ml_sample_curve *c = ml_plot_run_is_sampled(run) ? main_curve(run) : NULL;

    return add(ret, run->name, c ? &c->timeline : &run->timeline, false);
}

static int add_alone(const struct ml_plot_run *run, ml_plot_series_list *ret)
{
    bool only = ml_plot_run_is_sampled(run);
    int r = only ? 0 : add(ret, run->name, &run->timeline, false);

    for (size_t i = 0; r == 0 && i < run->sampled.list.len; i++) {
        const struct ml_sample_curve *c = &run->sampled.list.items[i];

        if (only && is_shown(run, c))
            r = add(ret, c->is_rss ? "RSS, summed" : c->name, &c->timeline, false);
        else if (!only && !c->is_rss && c->is_recorded && is_asked_for(run, c))
            r = add(ret, c->name, &c->timeline, true);
    }
    return r;
}

int ml_plot_choose(const struct ml_plot_run *runs, size_t count, ml_plot_series_list *ret)
{
    int r = 0;

    if (count == 1)
        return add_alone(&runs[0], ret);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = add_one_of_several(&runs[i], ret);
    return r;
}
