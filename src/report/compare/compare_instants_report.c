/* compare_instants_report.c: instants of one run side by side, as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cells.h"
#include "compare_report.h"
#include "health_report.h"

/* ---- Text -------------------------------------------------------------------- */

static int put_list(const struct ml_compare_instants *c, const struct ml_style *style,
                    struct ml_buf *out)
{
    static const char *const titles[] = {"instant", ">time", ">live", ">change", ">", ">blocks"};
    struct ml_table t;

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < c->list.len; i++) {
        const struct ml_compare_instant *one = &c->list.items[i];

        ml_table_cell(&t, one->name);
        ml_cells_time(&t, one->time_ns);
        ml_cells_bytes(&t, style, one->bytes.value);
        ml_change_cells(&t, style, i, &one->bytes);
        ml_cells_count(&t, one->blocks.value);
    }
    return ml_cells_print(&t, 0, out, style);
}

int ml_compare_instants_text(const struct ml_compare_instants *compared,
                             const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_health_text(&compared->health, NULL, style, out);

    if (r == 0)
        r = put_list(compared, style, out);
    if (r == 0 && compared->view.entries.len > 0)
        r = ml_compare_view_text(&compared->columns, &compared->view, style, out);
    return r;
}

/* ---- JSON -------------------------------------------------------------------- */

static void put_instant(const struct ml_compare_instant *one, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "name", one->name);
    ml_json_kv_cstr(json, "instant", ml_at_name(one->at.kind));
    if (one->at.kind >= ML_AT_OOM)
        ml_json_kv_u64(json, "number", one->at.number);
    ml_json_kv_u64(json, "time_ns", one->time_ns);
    ml_change_json(&one->bytes, "bytes", json);
    ml_change_json(&one->blocks, "blocks", json);
    ml_json_end_object(json);
}

int ml_compare_instants_json(const struct ml_compare_instants *compared, const char *file,
                             struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "device", compared->device);
    if (compared->pid)
        ml_json_kv_u64(&json, "pid", compared->pid);
    else
        ml_json_kv_null(&json, "pid");
    ml_health_json(&compared->health, &json);
    ml_json_key(&json, "instants");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < compared->list.len; i++)
        put_instant(&compared->list.items[i], &json);
    ml_json_end_array(&json);
    ml_compare_view_json(&compared->columns, &compared->view, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
