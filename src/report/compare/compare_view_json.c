/* compare_view_json.c: runs side by side, entry by entry, as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_report.h"
#include "instant.h"

static const char *status_of(const struct ml_compare_cell *first,
                             const struct ml_compare_cell *cell)
{
    if (!cell->known)
        return "absent";
    if (!first->known || (first->change.value == 0 && cell->change.value > 0))
        return "new";
    if (first->change.value > 0 && cell->change.value == 0)
        return "gone";
    return cell->change.difference == 0 ? "same" : "changed";
}

static void cells_json(const struct ml_compare *c, const struct ml_compare_entry *entry,
                       struct ml_json *json)
{
    ml_json_key(json, "runs");
    ml_json_begin_array(json);
    for (size_t run = 0; run < c->runs.len; run++) {
        const struct ml_compare_cell *cell = &entry->cells[run];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "name", c->runs.items[run].name);
        ml_json_kv_cstr(json, "status", status_of(&entry->cells[0], cell));
        if (cell->known)
            ml_change_json(&cell->change, "bytes", json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void names_json(const struct ml_compare_view *view, const struct ml_compare_entry *entry,
                       struct ml_json *json)
{
    switch (view->rows) {
    case ML_COMPARE_KEYS:
        for (size_t i = 0; i < view->by_count; i++)
            ml_json_kv_cstr(json, ml_key_name(view->by[i]),
                            entry->names[i][0] ? entry->names[i] : NULL);
        break;
    case ML_COMPARE_STEPS: ml_json_kv_u64(json, "step", entry->number); break;
    case ML_COMPARE_PHASES:
        ml_json_kv_cstr(json, "phase", entry->names[0][0] ? entry->names[0] : NULL);
        break;
    }
}

static void kind_json(const struct ml_compare_view *view, struct ml_json *json)
{
    static const char *const rows[] = {"entry", "step", "phase"};

    ml_json_kv_cstr(json, "each", rows[view->rows]);
    if (view->rows == ML_COMPARE_STEPS)
        ml_json_kv_bool(json, "by_position", view->by_position);
    if (view->rows != ML_COMPARE_KEYS)
        return;
    if (!view->of_instants)
        ml_json_kv_cstr(json, "instant", ml_at_name(view->at.kind));
    if (!view->of_instants && view->at.kind >= ML_AT_OOM)
        ml_json_kv_u64(json, "number", view->at.number);
    ml_json_key(json, "by");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->by_count; i++)
        ml_json_cstr(json, ml_key_name(view->by[i]));
    ml_json_end_array(json);
}

void ml_compare_view_json(const struct ml_compare *compare, const struct ml_compare_view *view,
                          struct ml_json *json)
{
    ml_json_key(json, "view");
    ml_json_begin_object(json);
    kind_json(view, json);
    ml_json_key(json, "entries");
    ml_json_begin_array(json);
    for (size_t i = 0; i < view->entries.len; i++) {
        ml_json_begin_object(json);
        names_json(view, &view->entries.items[i], json);
        cells_json(compare, &view->entries.items[i], json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_key(json, "rest");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "entries", view->rest_count);
    if (view->rows == ML_COMPARE_KEYS)
        cells_json(compare, &view->rest, json);
    ml_json_end_object(json);
    if (ml_compare_view_has_total(view)) {
        ml_json_key(json, "total");
        ml_json_begin_object(json);
        cells_json(compare, &view->total, json);
        ml_json_end_object(json);
    }
    ml_json_end_object(json);
}
