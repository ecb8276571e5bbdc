/* leaks_json.c: see leaks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leaks_report.h"

#include "breakdown_report.h"
#include "json.h"
#include "snapshot_report.h"
#include "stack_report.h"

static void names_json(const struct ml_leaks *l, const char *const *names, struct ml_json *json)
{
    for (size_t i = 0; i < l->by_count; i++)
        ml_json_kv_cstr(json, ml_key_name(l->by[i]), names[i][0] ? names[i] : NULL);
}

static void leak_json(const struct ml_leaks *l, const struct ml_leak *leak, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "sign", ml_leak_sign_name(leak->sign));
    ml_json_kv_double(json, "bytes_per_step", leak->bytes_per_step);
    ml_json_kv_double(json, "blocks_per_step", leak->blocks_per_step);
    ml_json_kv_u64(json, "grown_bytes", leak->grown_bytes);
    ml_json_kv_i64(json, "grown_blocks", leak->grown_blocks);
    ml_json_kv_u64(json, "grew_in_steps", leak->grew);
    ml_json_kv_u64(json, "fell_in_steps", leak->fell);
    ml_json_kv_u64(json, "live_bytes", leak->live_bytes);
    ml_json_kv_u64(json, "live_blocks", leak->blocks);
    if (ml_leaks_know_left(l))
        ml_json_kv_u64(json, "never_freed_bytes", leak->left_bytes);
    names_json(l, leak->names, json);
    if (leak->stack.frames.len > 0) {
        ml_json_key(json, "example");
        ml_json_begin_object(json);
        ml_stack_json(&leak->stack, json);
        ml_json_end_object(json);
    }
    ml_json_end_object(json);
}

static void left_json(const struct ml_leaks *l, struct ml_json *json)
{
    ml_json_key(json, "never_freed");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "bytes", l->left_bytes);
    ml_json_kv_u64(json, "blocks", l->left_blocks);
    ml_json_kv_u64(json, "groups", l->left_groups);
    ml_json_kv_u64(json, "growing_bytes", l->found_left_bytes);
    ml_json_key(json, "largest");
    ml_json_begin_array(json);
    for (size_t i = 0; i < l->left.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_u64(json, "bytes", l->left.items[i].bytes);
        ml_json_kv_u64(json, "blocks", l->left.items[i].blocks);
        names_json(l, l->left.items[i].names, json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void range_json(const struct ml_leaks *l, struct ml_json *json)
{
    ml_json_kv_cstr(json, "by_slices_of", ml_leak_unit_name(l->unit));
    if (l->slices)
        ml_json_kv_u64(json, "slices", l->slices);
    ml_json_kv_u64(json, "steps", l->steps);
    ml_json_kv_u64(json, "warm_up", l->warm_up);
    ml_json_kv_u64(json, "measured", l->measured);
    if (l->paused)
        ml_json_kv_u64(json, "paused", l->paused);
    ml_json_kv_u64(json, "first_step", l->first_number);
    ml_json_kv_u64(json, "last_step", l->last_number);
    ml_json_kv_u64(json, "from_ns", l->from_ns);
    ml_json_kv_u64(json, "to_ns", l->to_ns);
    ml_json_kv_u64(json, "from_bytes", l->from_bytes);
    ml_json_kv_u64(json, "to_bytes", l->to_bytes);
    ml_json_kv_double(json, "bytes_per_step", l->bytes_per_step);
    ml_json_kv_u64(json, "other_processes", l->other_pids.len);
}

static void found_json(const struct ml_leaks *l, struct ml_json *json)
{
    ml_json_key(json, "found");
    ml_json_begin_object(json);
    for (size_t i = 0; i < ML_LEAK_SIGNS; i++) {
        ml_json_key(json, ml_leak_sign_name((enum ml_leak_sign)i));
        ml_json_begin_object(json);
        ml_json_kv_u64(json, "groups", l->found[i]);
        ml_json_kv_u64(json, "grown_bytes", l->found_bytes[i]);
        ml_json_end_object(json);
    }
    ml_json_end_object(json);
}

static void leaks_json(const struct ml_leaks *l, struct ml_json *json)
{
    ml_json_key(json, "leaks");
    ml_json_begin_array(json);
    for (size_t i = 0; i < l->list.len; i++)
        leak_json(l, &l->list.items[i], json);
    ml_json_end_array(json);
}

static void after_json(const struct ml_leaks *l, struct ml_json *json)
{
    ml_json_key(json, "after_steps");
    if (!l->after) {
        ml_json_null(json);
        return;
    }
    ml_json_begin_object(json);
    range_json(l->after, json);
    found_json(l->after, json);
    leaks_json(l->after, json);
    ml_json_end_object(json);
}

int ml_leaks_json(const struct ml_leaks *leaks, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_origin_json(&leaks->at, file, &json);
    ml_json_kv_cstr(&json, "device", leaks->at.device);
    range_json(leaks, &json);
    found_json(leaks, &json);
    ml_json_key(&json, "by");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < leaks->by_count; i++)
        ml_json_cstr(&json, ml_key_name(leaks->by[i]));
    ml_json_end_array(&json);
    leaks_json(leaks, &json);
    after_json(leaks, &json);
    if (leaks->slices)
        left_json(leaks, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
