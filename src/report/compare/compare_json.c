/* compare_json.c: runs side by side as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare_report.h"

#include <stdio.h>

#include "health_report.h"

void ml_change_json(const struct ml_change *change, const char *key, struct ml_json *json)
{
    char name[64];

    ml_json_kv_u64(json, key, change->value);
    snprintf(name, sizeof(name), "%s_difference", key);
    ml_json_kv_i64(json, name, change->difference);
    snprintf(name, sizeof(name), "%s_percent", key);
    ml_json_kv_double(json, name, change->percent);
}

static void sampled_json(const struct ml_compare *c, size_t run, struct ml_json *json)
{
    ml_json_key(json, "by_sample");
    ml_json_begin_array(json);
    for (size_t i = 0; i < c->sampled.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "sampled", c->sampled.items[i].name);
        if (c->sampled.items[i].known[run])
            ml_change_json(&c->sampled.items[i].peak[run], "peak_bytes", json);
        else
            ml_json_kv_null(json, "peak_bytes");
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void devices_json(const struct ml_compare *c, size_t run, struct ml_json *json)
{
    ml_json_key(json, "by_device");
    ml_json_begin_array(json);
    for (size_t i = 0; i < c->devices.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "device", c->devices.items[i].name);
        ml_change_json(&c->devices.items[i].peak[run], "peak_bytes", json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void run_json(const struct ml_compare *c, size_t i, struct ml_json *json)
{
    const struct ml_compare_run *run = &c->runs.items[i];

    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "name", run->name);
    ml_json_kv_cstr(json, "file", run->file);
    ml_change_json(&run->peak, "peak_bytes", json);
    ml_json_kv_u64(json, "peak_time_ns", run->peak_time_ns);
    ml_change_json(&run->live, "live_bytes", json);
    ml_json_kv_u64(json, "never_freed_bytes", run->left_bytes);
    ml_change_json(&run->allocations, "allocations", json);
    ml_change_json(&run->duration, "duration_ns", json);
    ml_json_kv_u64(json, "lost", run->health->lost);
    ml_health_json(run->health, json);
    devices_json(c, i, json);
    ml_json_key(json, "by_category");
    ml_json_begin_array(json);
    for (size_t k = 0; k < c->categories.len; k++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "category", c->categories.items[k].name);
        ml_change_json(&c->categories.items[k].at_peak[i], "at_peak_bytes", json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    if (c->by_samples)
        sampled_json(c, i, json);
    ml_json_end_object(json);
}

static void levels_json(const struct ml_compare *c, struct ml_json *json)
{
    ml_json_key(json, "lowered_levels");
    ml_json_begin_array(json);
    for (size_t i = 0; i < c->levels.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "device", c->levels.items[i].device);
        ml_json_kv_cstr(json, "level", c->levels.items[i].level);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

int ml_compare_json(const struct ml_compare *compare, const struct ml_compare_view *view,
                    struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_double(&json, "worst_increase_percent", compare->worst_increase_percent);
    ml_json_kv_bool(&json, "by_samples", compare->by_samples);
    levels_json(compare, &json);
    ml_json_key(&json, "runs");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < compare->runs.len; i++)
        run_json(compare, i, &json);
    ml_json_end_array(&json);
    if (view)
        ml_compare_view_json(compare, view, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
