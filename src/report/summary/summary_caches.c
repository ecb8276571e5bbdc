/* summary_caches.c: see summary_caches.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary_caches.h"

#include <stdio.h>

#include "cells.h"
#include "summary_samples.h"

#define LAYERS_SHOWN 10 /* --json lists all */

/* ---- Text ---------------------------------------------------------------- */

static bool is_alike(const struct ml_cache_layer *a, const struct ml_cache_layer *b)
{
    return a->peak_bytes == b->peak_bytes && a->growths == b->growths &&
           a->each.mean == b->each.mean;
}

static bool are_alike(const struct ml_cache_growth *caches)
{
    for (size_t i = 1; i < caches->layers.len; i++)
        if (!is_alike(&caches->layers.items[0], &caches->layers.items[i]))
            return false;
    return true;
}

static int put_bytes(const struct ml_growth_bytes *each, const struct ml_style *style,
                     struct ml_buf *text)
{
    char mean[32], least[32], most[32];

    ml_format_bytes(mean, each->mean, style->unit);
    if (each->least == each->most)
        return ml_buf_printf(text, "; grows by %s for each token", mean);
    return ml_buf_printf(text, "; grows by %s to %s at a time, %s on average",
                         ml_format_bytes(least, each->least, style->unit),
                         ml_format_bytes(most, each->most, style->unit), mean);
}

static int put_growth(const struct ml_cache_growth *caches, const struct ml_style *style,
                      struct ml_buf *text)
{
    char layer[32];
    int r;

    if (caches->growths == 0)
        return caches->fixed
                   ? ml_buf_puts(text, "; allocated once, so the part in use is not known")
                   : 0;
    r = put_bytes(&caches->each, style, text);
    if (r == 0 && caches->layers.len > 1 && are_alike(caches))
        r = ml_buf_printf(text, ", %s in each layer",
                          ml_format_bytes(layer, caches->layers.items[0].each.mean, style->unit));
    return r;
}

int ml_summary_caches_line(const struct ml_cache_growth *caches, const struct ml_style *style,
                           struct ml_buf *out)
{
    size_t count = caches->layers.len;
    char bytes[32], layers[32];
    struct ml_buf text;
    int r;

    if (count == 0)
        return 0;
    ml_buf_init(&text);
    r = ml_buf_printf(&text, "at most, in %s layer%s", ml_format_count(layers, (int64_t)count),
                      count == 1 ? "" : "s");
    if (r == 0)
        r = put_growth(caches, style, &text);
    if (r == 0)
        r = ml_summary_line(out, style, "KV cache",
                            ml_format_bytes(bytes, (int64_t)caches->peak_bytes, style->unit), "%s",
                            (const char *)text.data);
    ml_buf_release(&text);
    return r;
}

static void put_row(struct ml_table *t, const struct ml_cache_layer *layer,
                    const struct ml_style *style)
{
    char each[32];

    ml_cells_scope(t, layer->module);
    ml_cells_bytes(t, style, layer->peak_bytes);
    ml_cells_count(t, layer->growths);
    if (layer->growths > 0)
        ml_table_cell(t, ml_format_bytes(each, layer->each.mean, style->unit));
    else
        ml_table_cell(t, layer->fixed ? "fixed" : "?");
}

int ml_summary_caches_table(const struct ml_cache_growth *caches, const struct ml_style *style,
                            struct ml_buf *out)
{
    static const char *const titles[] = {"module", ">peak", ">growths", ">by"};
    size_t count = caches->layers.len;
    struct ml_table t;
    int r;

    if (count < 2 || are_alike(caches))
        return 0;
    r = count <= LAYERS_SHOWN
            ? ml_report_heading(out, style, "KV cache, by layer")
            : ml_report_heading(out, style, "KV cache, by layer (the first %d of %zu)",
                                LAYERS_SHOWN, count);
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < count && i < LAYERS_SHOWN; i++)
        put_row(&t, &caches->layers.items[i], style);
    return ml_cells_print(&t, r, out, style);
}

/* ---- JSON ---------------------------------------------------------------- */

static void growth_json(uint64_t peak_bytes, uint64_t growths, const struct ml_growth_bytes *each,
                        struct ml_json *json)
{
    ml_json_kv_u64(json, "peak_bytes", peak_bytes);
    ml_json_kv_u64(json, "growths", growths);
    if (growths == 0) {
        ml_json_kv_null(json, "mean_growth_bytes");
        ml_json_kv_null(json, "least_growth_bytes");
        ml_json_kv_null(json, "most_growth_bytes");
        return;
    }
    ml_json_kv_i64(json, "mean_growth_bytes", each->mean);
    ml_json_kv_i64(json, "least_growth_bytes", each->least);
    ml_json_kv_i64(json, "most_growth_bytes", each->most);
}

static void layer_json(const struct ml_cache_layer *layer, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "module", layer->module);
    growth_json(layer->peak_bytes, layer->growths, &layer->each, json);
    ml_json_end_object(json);
}

void ml_summary_caches_json(const struct ml_cache_growth *caches, struct ml_json *json)
{
    if (caches->layers.len == 0) {
        ml_json_kv_null(json, "kv_cache");
        return;
    }
    ml_json_key(json, "kv_cache");
    ml_json_begin_object(json);
    growth_json(caches->peak_bytes, caches->growths, &caches->each, json);
    ml_json_key(json, "layers");
    ml_json_begin_array(json);
    for (size_t i = 0; i < caches->layers.len; i++)
        layer_json(&caches->layers.items[i], json);
    ml_json_end_array(json);
    ml_json_end_object(json);
}
