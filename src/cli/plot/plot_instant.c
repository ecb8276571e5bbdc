/* plot_instant.c: pictures of modules, blocks and segments of one
 * recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "plot_request.h"
#include "plots.h"

static struct ml_snapshot_opts instant_of(const struct ml_plot_request *q)
{
    return (struct ml_snapshot_opts){.at = q->at, .device = q->opts->instant.device};
}

/* Modules if there are any, unless calls are requested. */
static bool shows_calls(const struct ml_plot_request *q)
{
    switch (q->opts->by) {
    case ML_PLOT_BY_STACK:
    case ML_PLOT_BY_CALLERS: return true;
    case ML_PLOT_BY_CATEGORY:
        return q->opts->of != ML_COST_LIVE ||
               (ml_trace_scopes(q->traces[0]) <= 1 && ml_trace_stacks(q->traces[0]) > 1);
    default: return false;
    }
}

static int draw_calls(const struct ml_plot_request *q, struct ml_canvas *canvas, bool icicle)
{
    struct ml_call_tree_opts opts = {
        .snapshot = instant_of(q),
        .limit = ML_TEMPORARY_LIMIT,
        .of = (enum ml_cost)q->opts->of,
        .callers = q->opts->by == ML_PLOT_BY_CALLERS,
        .min_percent = ML_FLAME_MIN_PERCENT,
    };
    struct ml_error err = {0};
    struct ml_call_tree tree;
    int r = ml_call_tree(q->traces[0], &opts, &tree, &err);

    if (r == 0 && tree.costs.at.instant.health.empty)
        r = ml_report_empty(&tree.costs.at.instant.health, q->names[0], &err);
    if (r == 0) {
        ml_report_warn(&tree.costs.at.instant.health, NULL);
        ml_plot_calls(canvas, &tree, icicle, &q->picture);
    }
    ml_call_tree_release(&tree);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

static int draw_modules(const struct ml_plot_request *q, struct ml_canvas *canvas, bool icicle)
{
    struct ml_tree_opts opts = {.snapshot = instant_of(q), .min_percent = ML_FLAME_MIN_PERCENT};
    struct ml_error err = {0};
    struct ml_module_tree tree;
    int r = ml_module_tree(q->traces[0], &opts, &tree, &err);

    if (r == 0 && tree.at.instant.health.empty)
        r = ml_report_empty(&tree.at.instant.health, q->names[0], &err);
    if (r == 0) {
        ml_report_warn(&tree.at.instant.health, NULL);
        ml_plot_flame(canvas, &tree, icicle, &q->picture);
    }
    ml_module_tree_release(&tree);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

static int draw_tree(const struct ml_plot_request *q, struct ml_canvas *canvas, bool icicle)
{
    return shows_calls(q) ? draw_calls(q, canvas, icicle) : draw_modules(q, canvas, icicle);
}

int ml_draw_flame(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    return draw_tree(request, canvas, false);
}

int ml_draw_icicle(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    return draw_tree(request, canvas, true);
}

/* An empty picture would look like a program without memory. */
static int no_lifetimes(const struct ml_plot_request *q, const struct ml_lifetimes *lifetimes,
                        struct ml_error *err)
{
    const char *device = q->opts->instant.device;

    if (ml_check_blocks(q->traces[0], err) < 0)
        return -ENODATA;
    if (device)
        return ml_error_set(err, -ENODEV,
                            "no block on '%s' is in this trace; memledger summary lists the "
                            "devices",
                            device);
    if (lifetimes->from_ns > 0 || lifetimes->to_ns < lifetimes->duration_ns)
        return ml_error_set(err, -ENODATA, "%s: no block was live between --from and --to",
                            q->names[0]);
    return ml_error_set(err, -ENODATA,
                        "%s: there is no block; memledger summary shows what was recorded",
                        q->names[0]);
}

int ml_draw_lifetimes(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    struct ml_lifetimes_opts opts = {.top = (size_t)request->opts->top,
                                     .from_ns = request->opts->from_ns,
                                     .to_ns = request->opts->to_ns,
                                     .device = request->opts->instant.device};
    struct ml_error err = {0};
    struct ml_lifetimes lifetimes;
    int r = ml_lifetimes(request->traces[0], &opts, &lifetimes, &err);

    if (r == 0 && lifetimes.blocks == 0)
        r = no_lifetimes(request, &lifetimes, &err);
    if (r == 0)
        ml_plot_lifetimes(canvas, &lifetimes, &request->picture);
    ml_lifetimes_release(&lifetimes);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

int ml_draw_segments(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    struct ml_snapshot_opts opts = instant_of(request);
    struct ml_error err = {0};
    struct ml_segment_map map;
    int r = ml_segment_map(request->traces[0], &opts, (size_t)request->opts->top, &map, &err);

    if (r == 0) {
        ml_report_warn(&map.at.instant.health, NULL);
        ml_plot_segments(canvas, &map, &request->picture);
    }
    ml_segment_map_release(&map);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}
