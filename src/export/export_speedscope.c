/* export_speedscope.c: live memory at an instant, as flame graphs for speedscope.app: by module
 * and category, and by stack if any was recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "event_names.h"
#include "exporter.h"
#include "json.h"
#include "site_frames.h"

struct work {
    const struct ml_trace *trace;
    struct ml_sites sites;
    struct ml_site_frames frames;
    struct ml_json json;
    struct ml_output *out;
};

/* Which sites a graph shows, and their frames, innermost first, in frames.path. */
struct graph {
    const char *name;
    bool (*shows)(const struct ml_site *site);
    int (*path)(struct work *w, const struct ml_site *site);
};

static bool is_live(const struct ml_site *site)
{
    return site->live_bytes > 0;
}

static bool has_stack(const struct ml_site *site)
{
    return is_live(site) && site->stack != 0;
}

/* The category is the frame inside its module. */
static int module_path(struct work *w, const struct ml_site *site)
{
    int64_t leaf = ml_site_frame(&w->frames, ml_category_name(site->category));
    int r = leaf < 0 ? (int)leaf : ml_site_module(&w->frames, &w->sites.modules, site->module);

    if (r == 0)
        r = ml_vec_push(&w->frames.path, 0);
    for (size_t i = w->frames.path.len; r == 0 && i > 1; i--)
        w->frames.path.items[i - 1] = w->frames.path.items[i - 2];
    if (r == 0)
        w->frames.path.items[0] = (uint32_t)leaf;
    return r;
}

static int stack_path(struct work *w, const struct ml_site *site)
{
    return ml_site_stack(&w->frames, site->stack);
}

static const struct graph graphs[] = {
    {"modules and categories", is_live, module_path},
    {"stacks", has_stack, stack_path},
};

/* ---- Writing ------------------------------------------------------------ */

static int flush(struct work *w)
{
    return w->json.error ? w->json.error : ml_output_line(w->out);
}

/* All frames must be known before the first is written. */
static int number_frames(struct work *w, const struct graph *graph, uint64_t *ret_bytes)
{
    int r = 0;

    *ret_bytes = 0;
    for (size_t i = 0; r == 0 && i < w->sites.list.len; i++)
        if (graph->shows(&w->sites.list.items[i])) {
            *ret_bytes += w->sites.list.items[i].live_bytes;
            r = graph->path(w, &w->sites.list.items[i]);
        }
    return r;
}

static int put_frames(struct work *w)
{
    int r = 0;

    ml_json_key(&w->json, "shared");
    ml_json_begin_object(&w->json);
    ml_json_key(&w->json, "frames");
    ml_json_begin_array(&w->json);
    for (size_t i = 0; r == 0 && i < w->frames.list.len; i++) {
        const struct ml_site_frame *frame = &w->frames.list.items[i];

        ml_json_begin_object(&w->json);
        ml_json_kv_cstr(&w->json, "name", ml_intern_get(&w->frames.texts, frame->name, NULL));
        if (frame->file)
            ml_json_kv_cstr(&w->json, "file", ml_intern_get(&w->frames.texts, frame->file, NULL));
        if (frame->line)
            ml_json_kv_u64(&w->json, "line", frame->line);
        ml_json_end_object(&w->json);
        r = flush(w);
    }
    ml_json_end_array(&w->json);
    ml_json_end_object(&w->json);
    return r;
}

static int put_samples(struct work *w, const struct graph *graph)
{
    int r = 0;

    ml_json_key(&w->json, "samples");
    ml_json_begin_array(&w->json);
    for (size_t i = 0; r == 0 && i < w->sites.list.len; i++) {
        if (!graph->shows(&w->sites.list.items[i]))
            continue;
        r = graph->path(w, &w->sites.list.items[i]);
        ml_json_begin_array(&w->json);
        for (size_t k = w->frames.path.len; r == 0 && k > 0; k--)
            ml_json_u64(&w->json, w->frames.path.items[k - 1]);
        ml_json_end_array(&w->json);
        if (r == 0)
            r = flush(w);
    }
    ml_json_end_array(&w->json);
    return r;
}

static int put_weights(struct work *w, const struct graph *graph)
{
    int r = 0;

    ml_json_key(&w->json, "weights");
    ml_json_begin_array(&w->json);
    for (size_t i = 0; r == 0 && i < w->sites.list.len; i++)
        if (graph->shows(&w->sites.list.items[i])) {
            ml_json_u64(&w->json, w->sites.list.items[i].live_bytes);
            r = flush(w);
        }
    ml_json_end_array(&w->json);
    return r;
}

static int put_graph(struct work *w, const struct graph *graph, uint64_t bytes)
{
    int r;

    ml_json_begin_object(&w->json);
    ml_json_kv_cstr(&w->json, "type", "sampled");
    ml_json_kv_cstr(&w->json, "name", graph->name);
    ml_json_kv_cstr(&w->json, "unit", "bytes");
    ml_json_kv_u64(&w->json, "startValue", 0);
    ml_json_kv_u64(&w->json, "endValue", bytes);
    r = put_samples(w, graph);
    if (r == 0)
        r = put_weights(w, graph);
    ml_json_end_object(&w->json);
    return r;
}

static void put_head(struct work *w)
{
    char title[600];
    const char *command = w->sites.at.command ? w->sites.at.command : "memledger";

    snprintf(title, sizeof(title), "%s, %s", command, ml_at_name(w->sites.at.instant.at.kind));
    ml_json_kv_cstr(&w->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    ml_json_kv_cstr(&w->json, "exporter", "memledger@" MEMLEDGER_VERSION);
    ml_json_kv_cstr(&w->json, "name", title);
    ml_json_kv_u64(&w->json, "activeProfileIndex", 0);
}

static int write_file(struct work *w)
{
    uint64_t bytes[ML_ARRAY_SIZE(graphs)];
    int r = 0;

    for (size_t i = 0; r == 0 && i < ML_ARRAY_SIZE(graphs); i++)
        r = number_frames(w, &graphs[i], &bytes[i]);
    ml_json_init(&w->json, &w->out->text, false);
    ml_json_begin_object(&w->json);
    put_head(w);
    if (r == 0)
        r = put_frames(w);
    ml_json_key(&w->json, "profiles");
    ml_json_begin_array(&w->json);
    for (size_t i = 0; r == 0 && i < ML_ARRAY_SIZE(graphs); i++)
        if (i == 0 || bytes[i] > 0) /* the first is written even if nothing is live */
            r = put_graph(w, &graphs[i], bytes[i]);
    ml_json_end_array(&w->json);
    ml_json_end_object(&w->json);
    if (r == 0)
        r = ml_json_finish(&w->json);
    return r < 0 ? r : ml_buf_puts(&w->out->text, "\n");
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_sites_opts how = {.snapshot = {.at = opts->at, .device = opts->device}};
    struct work w = {.trace = trace, .out = out};
    int r = ml_site_frames_init(&w.frames, trace);

    if (r == 0)
        r = ml_sites(trace, &how, &w.sites, err);
    if (r == 0)
        r = write_file(&w);
    ml_site_frames_release(&w.frames);
    ml_sites_release(&w.sites);
    return r;
}

const struct ml_exporter ml_exporter_speedscope = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .help = "flame graphs of live memory at --at",
    .run = export_trace,
};
