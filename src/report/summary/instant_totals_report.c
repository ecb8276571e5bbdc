/* instant_totals_report.c: see instant_totals_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instant_totals_report.h"

#include "category_columns.h"
#include "cells.h"
#include "event_names.h"
#include "snapshot_report.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- Text -------------------------------------------------------------- */

static int put_devices(const struct ml_instant_totals *totals, const struct ml_style *style,
                       struct ml_buf *out)
{
    static const char *const titles[] = {"device", ">live", ">blocks", ">peak so far", ">at"};
    struct ml_table table;
    int r;

    ml_cells_columns(&table, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < totals->devices.len; i++) {
        const struct ml_device_totals *d = &totals->devices.items[i];

        ml_table_cell(&table, d->name);
        ml_cells_bytes(&table, style, d->live.bytes);
        ml_cells_count(&table, d->live.blocks);
        ml_cells_bytes(&table, style, d->peak_bytes);
        if (ml_health_no_times(&totals->at.instant.health))
            ml_table_cell(&table, "");
        else
            ml_cells_time(&table, d->peak_time_ns);
    }
    r = ml_report_heading(out, style, "By device");
    return ml_cells_print(&table, r, out, style);
}

static void category_row(struct ml_table *table, const struct ml_style *style,
                         const struct ml_device_totals *d, bool named, size_t category)
{
    double share = percent(d->by_category[category].bytes, d->live.bytes);

    if (named)
        ml_table_cell(table, d->name);
    ml_table_cell(table, ml_category_name(category));
    ml_cells_bytes(table, style, d->by_category[category].bytes);
    ml_cells_percent(table, share);
    ml_cells_count(table, d->by_category[category].blocks);
    if (ml_cells_bars_fit(style))
        ml_cells_bar(table, share);
}

static int put_categories(const struct ml_instant_totals *totals, const struct ml_style *style,
                          struct ml_buf *out)
{
    static const char *const titles[] = {"category", ">live", ">share", ">blocks", ""};
    static const char *const device[] = {"device"};
    bool named = totals->devices.len > 1;
    struct ml_table table;
    int r;

    ml_cells_columns(&table, device, named);
    ml_cells_more_columns(&table, titles, ML_ARRAY_SIZE(titles) - !ml_cells_bars_fit(style));
    for (size_t i = 0; i < totals->devices.len; i++)
        for (size_t k = 0; k < ML_CATEGORIES; k++)
            if (totals->devices.items[i].by_category[ml_category_order[k]].blocks > 0)
                category_row(&table, style, &totals->devices.items[i], named, ml_category_order[k]);
    r = ml_report_heading(out, style, "By category");
    return ml_cells_print(&table, r, out, style);
}

int ml_instant_totals_text(const struct ml_instant_totals *totals, const char *file,
                           const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_snapshot_text(&totals->at, file, style, out);

    if (r == 0 && totals->devices.len > 0)
        r = put_devices(totals, style, out);
    if (r == 0 && totals->at.blocks > 0)
        r = put_categories(totals, style, out);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void put_levels(struct ml_json *json, const struct ml_device_totals *d)
{
    static const char *const keys[ML_LEVELS] = {NULL, "driver_bytes", "pool_bytes", "block_bytes"};

    for (size_t i = 1; i < ML_LEVELS; i++)
        if (d->has_level[i])
            ml_json_kv_u64(json, keys[i], d->levels[i]);
        else
            ml_json_kv_null(json, keys[i]);
}

static void put_device_categories(struct ml_json *json, const struct ml_device_totals *d)
{
    ml_json_key(json, "categories");
    ml_json_begin_array(json);
    for (size_t k = 0; k < ML_CATEGORIES; k++) {
        const struct ml_amount *amount = &d->by_category[ml_category_order[k]];

        if (amount->blocks == 0)
            continue;
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "category", ml_category_name(ml_category_order[k]));
        ml_json_kv_u64(json, "live_bytes", amount->bytes);
        ml_json_kv_u64(json, "blocks", amount->blocks);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

int ml_instant_totals_json(const struct ml_instant_totals *totals, const char *file,
                           struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_json(&totals->at, file, &json);
    ml_json_kv_u64(&json, "peak_bytes", totals->peak_bytes);
    ml_json_kv_u64(&json, "peak_time_ns", totals->peak_time_ns);
    ml_json_key(&json, "devices");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < totals->devices.len; i++) {
        const struct ml_device_totals *d = &totals->devices.items[i];

        ml_json_begin_object(&json);
        ml_json_kv_cstr(&json, "device", d->name);
        ml_json_kv_u64(&json, "live_bytes", d->live.bytes);
        ml_json_kv_u64(&json, "blocks", d->live.blocks);
        ml_json_kv_u64(&json, "peak_bytes", d->peak_bytes);
        ml_json_kv_u64(&json, "peak_time_ns", d->peak_time_ns);
        put_levels(&json, d);
        put_device_categories(&json, d);
        ml_json_end_object(&json);
    }
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
