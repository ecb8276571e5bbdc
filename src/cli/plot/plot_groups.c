/* plot_groups.c: pictures by the categories of keyword dictionaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dictionary_option.h"
#include "plot_title.h"
#include "plots.h"
#include "say.h"

#define CATEGORIES_DICTIONARY "torch"
#define CLASHES_SHOWN 3

struct groupings {
    const struct ml_plot_request *request;
    ml_dictionary_list dictionaries;
    struct ml_tag_list list; /* of the recording read last */
    size_t empty;            /* recordings without allocations */
    ML_VEC(struct ml_grouping) made;
};

static void release(struct groupings *g)
{
    for (size_t i = 0; i < g->made.len; i++)
        ml_grouping_release(&g->made.items[i]);
    ml_vec_release(&g->made);
    ml_tag_list_release(&g->list);
    ml_dictionaries_release(&g->dictionaries);
}

/* ---- Reading ----------------------------------------------------------- */

/* The first few by name. @return 0 or -ENOMEM */
static int tell_clashes(const struct ml_grouping *made)
{
    size_t shown = ml_min_u64(made->clashes.len, CLASHES_SHOWN);
    struct ml_buf tags = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < shown; i++) {
        r = ml_buf_puts(&tags, i ? ", " : "");
        if (r == 0)
            r = ml_report_safe(&tags, made->clashes.items[i].tag);
    }
    if (r == 0 && shown)
        ml_say("%s: %zu tag%s several keywords and count%s more than once (%s%s); "
               "memledger groups lists them",
               made->dictionary, made->clashes.len, made->clashes.len == 1 ? " matches" : "s match",
               made->clashes.len == 1 ? "s" : "", (const char *)tags.data,
               made->clashes.len > shown ? ", ..." : "");
    ml_buf_release(&tags);
    return r;
}

static int group(struct groupings *g, const struct ml_dictionary *dictionary,
                 const struct ml_grouping_opts *opts)
{
    struct ml_grouping made = {0};
    int r = ml_grouping(&g->list, dictionary, opts, &made);

    if (r == 0)
        r = ml_vec_push(&g->made, made);
    if (r < 0)
        ml_grouping_release(&made);
    return r < 0 ? r : tell_clashes(&made);
}

/* An empty picture would look like a program without memory. Beside other charts, an empty one
 * gets a warning. */
static int check_health(struct groupings *g, const char *name, struct ml_error *err)
{
    const struct ml_plot_request *q = g->request;
    struct ml_health health = g->list.at.instant.health;
    bool has_all = g->list.gross || q->at.kind == ML_AT_PEAK;

    if (has_all && !q->opts->instant.device && g->list.list.len == 0)
        health.empty = true;
    g->empty += health.empty;
    if (g->empty == q->count && !q->opts->expected)
        return ml_report_empty(&health, name, err);
    ml_report_warn(&health, q->count > 1 ? name : NULL);
    return 0;
}

/* Groups a recording by each dictionary, and appends the results. */
static int read_trace(struct groupings *g, size_t number, struct ml_error *err)
{
    const struct ml_trace *trace = g->request->traces[number];
    const struct ml_plot_cmd_opts *opts = g->request->opts;
    struct ml_tag_list_opts list = {
        .device = opts->instant.device, .gross = opts->gross, .at = g->request->at};
    struct ml_grouping_opts how = {0};
    int r;

    ml_tag_list_release(&g->list);
    r = ml_tag_list(trace, &list, &g->list, err);
    how.torch_words = g->list.torch;
    if (r == 0)
        r = check_health(g, g->request->names[number], err);
    if (r == 0)
        r = ml_expected_total_find(&g->request->expected, trace, &g->list, opts->instant.device,
                                   &how, err);
    for (size_t i = 0; r == 0 && i < g->dictionaries.len; i++)
        r = group(g, &g->dictionaries.items[i], &how);
    return r;
}

static int load(struct groupings *g, const char *otherwise, struct ml_error *err)
{
    const char *names = g->request->opts->dictionaries;

    return ml_dictionaries_load(names ? names : otherwise, &g->dictionaries, err);
}

/* The subtitle, from the recording read last. */
static const char *subtitle_of(const struct groupings *g, struct ml_canvas *canvas)
{
    enum ml_unit unit = g->request->picture.unit;
    char bytes[32], count[32];
    const char *what =
        !g->list.gross ? ml_frame_instant(canvas, &g->list.at, unit)
                       : ml_canvas_printf(canvas, "%s allocated in %s blocks over the whole run",
                                          ml_format_bytes(bytes, (int64_t)g->list.bytes, unit),
                                          ml_format_count(count, (int64_t)g->list.list.len));
    bool told = !g->list.devices || (!g->list.gross && g->list.at.device);

    return told ? what : ml_canvas_printf(canvas, "%s; %s", what, g->list.devices);
}

/* ---- Bars -------------------------------------------------------------- */

/* Data structures have the names that the framework gives them. */
static const char *bars_dictionaries(const struct ml_trace *trace)
{
    return ml_trace_has_torch_alone(trace) ? "layers,torch" : "layers,mxnet";
}

int ml_draw_bars(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    struct groupings g = {.request = request};
    struct ml_error err = {0};
    int r = load(&g, bars_dictionaries(request->traces[0]), &err);

    if (r == 0)
        r = read_trace(&g, 0, &err);
    if (r == 0)
        ml_plot_bars(canvas, g.made.items, g.made.len, subtitle_of(&g, canvas), &request->picture);
    release(&g);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

/* ---- Categories -------------------------------------------------------- */

/* On standard error, since the picture does not show them. */
static void tell_omitted(const struct groupings *g)
{
    double least = g->request->opts->min_share;

    for (size_t i = 0; least > 0 && i < g->made.len; i++)
        for (size_t k = 0; k < g->made.items[i].groups.len; k++) {
            const struct ml_group *omitted = &g->made.items[i].groups.items[k];

            if (omitted->percent <= least)
                ml_say("%s: left out: %s (%.2f %%)", g->request->names[i / g->dictionaries.len],
                       omitted->name, omitted->percent);
        }
}

/* A chart for each recording and dictionary. In a grid it has the name of its run; alone, the title
 * says it. */
static const char *chart_name(const struct groupings *g, size_t i, struct ml_canvas *canvas)
{
    const struct ml_plot_request *q = g->request;
    const char *run = q->names[i / g->dictionaries.len];
    const char *dictionary = g->made.items[i].dictionary;
    bool named = q->count > 1 || q->opts->grid;

    if (g->dictionaries.len == 1)
        return named ? run : "";
    return named ? ml_canvas_printf(canvas, "%s, %s", run, dictionary) : dictionary;
}

static int draw_charts(const struct groupings *g, struct ml_canvas *canvas)
{
    const struct ml_plot_request *q = g->request;
    struct ml_category_chart *charts = calloc(g->made.len, sizeof(*charts));
    struct ml_plot_opts picture = q->picture;
    const struct ml_category_look look = {
        .subtitle = q->count > 1 ? "" : subtitle_of(g, canvas),
        .min_percent = q->opts->min_share,
        .own_axes = q->opts->axes == ML_PLOT_AXES_EACH,
    };

    if (!charts)
        return -ENOMEM;
    for (size_t i = 0; i < g->made.len; i++) {
        charts[i].grouping = &g->made.items[i];
        charts[i].name = chart_name(g, i, canvas);
    }
    picture.title = ml_plot_title_of_runs(q, canvas, "memory by category");
    ml_plot_categories(canvas, charts, g->made.len, &look, &picture);
    free(charts);
    return 0;
}

int ml_draw_categories(const struct ml_plot_request *request, struct ml_canvas *canvas)
{
    struct groupings g = {.request = request};
    struct ml_error err = {0};
    int r = load(&g, CATEGORIES_DICTIONARY, &err);

    for (size_t i = 0; r == 0 && i < request->count; i++)
        r = read_trace(&g, i, &err);
    if (r == 0) {
        tell_omitted(&g);
        r = draw_charts(&g, canvas);
    }
    release(&g);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}
