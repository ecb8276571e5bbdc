/* oom_json.c: see oom_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "free_space_json.h"
#include "oom_report.h"
#include "snapshot_report.h"

static void text(struct ml_json *json, const char *key, const char *value)
{
    ml_json_kv_cstr(json, key, value[0] ? value : NULL);
}

static void request_json(struct ml_json *json, const struct ml_oom *o)
{
    ml_json_seen(json, "number", &(struct ml_seen){!o->refusal.killed, o->refusal.number});
    ml_json_kv_u64(json, "at_ns", o->refusal.time_ns);
    ml_json_kv_cstr(json, "device", o->device);
    ml_json_kv_cstr(json, "space", o->space);
    ml_json_kv_u64(json, "pid", o->pid);
    ml_json_kv_u64(json, "tid", o->tid);
    ml_json_kv_u64(json, "asked_bytes", o->refusal.bytes);
    ml_json_kv_u64(json, "driver_asked_bytes", o->need_bytes);
    ml_json_kv_bool(json, "driver_refused", o->refusal.driver_bytes > 0);
    ml_json_kv_bool(json, "recovered", o->refusal.state == ML_REFUSAL_RECOVERED);
    ml_json_kv_bool(json, "killed", o->refusal.killed);
    text(json, "module", o->module);
    text(json, "class", o->class_name);
    text(json, "scope", o->scope);
    text(json, "phase", o->phase);
    text(json, "category", o->category);
    text(json, "line", o->line);
}

static void reasons_json(struct ml_json *json, const struct ml_oom *o)
{
    ml_json_kv_cstr(json, "verdict", ml_oom_verdict_name(o->verdict));
    ml_json_kv_cstr(json, "rule", ml_oom_rule_name(o->rule));
    ml_json_seen(json, "short_bytes", &o->short_bytes);
    ml_json_kv_u64(json, "live_bytes", o->live_bytes);
    ml_json_kv_u64(json, "live_blocks", o->live_blocks);
    ml_json_seen(json, "free_bytes", &o->sampled_free);
    ml_json_seen(json, "free_age_ns", &(struct ml_seen){o->sampled_free.known, o->free_age_ns});
    ml_json_seen(json, "total_bytes", &o->driver.total);
    ml_json_seen(json, "address_limit_bytes", &o->addresses.limit);
    ml_json_seen(json, "address_used_bytes", &o->addresses.used);
    ml_json_seen(json, "group_limit_bytes", &o->group_limit);
    ml_json_key(json, "segments");
    if (!o->has_segments) {
        ml_json_null(json);
        return;
    }
    ml_json_begin_object(json);
    ml_free_place_json(&o->place, json);
    ml_json_kv_u64(json, "afresh_bytes", o->afresh_bytes);
    ml_json_seen(json, "expandable_bytes", &(struct ml_seen){o->torch, o->expandable_bytes});
    ml_json_kv_u64(json, "least_capacity_bytes", o->least_capacity);
    ml_json_kv_u64(json, "most_capacity_bytes", o->most_capacity);
    ml_json_kv_bool(json, "limited", o->limited);
    ml_json_end_object(json);
}

static void holders_json(struct ml_json *json, const struct ml_breakdown *b)
{
    ml_json_key(json, "holders");
    ml_json_begin_array(json);
    for (size_t i = 0; i < b->groups.len; i++) {
        const struct ml_breakdown_group *group = &b->groups.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "bytes", group->bytes);
        ml_json_kv_double(json, "percent", group->percent);
        ml_json_kv_u64(json, "blocks", group->blocks);
        for (size_t k = 0; k < b->by_count; k++)
            text(json, ml_key_name(b->by[k]), group->names[k]);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void changes_json(struct ml_json *json, const struct ml_oom *o)
{
    ml_json_key(json, "changes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < o->changes.len; i++) {
        const struct ml_oom_change *c = &o->changes.items[i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "change", ml_oom_change_name(c->kind));
        ml_json_kv_u64(json, "bytes", c->bytes);
        if (c->judged)
            ml_json_kv_bool(json, "enough", c->fits);
        else
            ml_json_kv_null(json, "enough");
        if (c->kind == ML_CHANGE_BATCH && c->judged)
            ml_json_kv_double(json, "fraction", c->fraction);
        if (c->kind == ML_CHANGE_BATCH || c->kind == ML_CHANGE_BFLOAT16)
            ml_json_kv_u64(json, "of_bytes", c->of_bytes);
        if (c->kind == ML_CHANGE_SEGMENTS)
            ml_json_kv_u64(json, "segments", c->count);
        if (c->name[0])
            ml_json_kv_cstr(json, c->kind == ML_CHANGE_BFLOAT16 ? "of" : "module", c->name);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void verdict_json(struct ml_json *json, const struct ml_oom *o)
{
    ml_json_begin_object(json);
    request_json(json, o);
    reasons_json(json, o);
    holders_json(json, &o->holders);
    changes_json(json, o);
    ml_json_end_object(json);
}

static void leak_json(struct ml_json *json, const struct ml_leaks *l)
{
    const struct ml_leak *leak = ml_oom_leak(l);

    ml_json_key(json, "leak");
    if (!leak) {
        ml_json_null(json);
        return;
    }
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "sign", ml_leak_sign_name(leak->sign));
    ml_json_kv_u64(json, "grown_bytes", leak->grown_bytes);
    ml_json_kv_u64(json, "grew_in_steps", leak->grew);
    ml_json_kv_u64(json, "measured", l->measured);
    for (size_t i = 0; i < l->by_count; i++)
        text(json, ml_key_name(l->by[i]), leak->names[i]);
    ml_json_end_object(json);
}

int ml_oom_json(const struct ml_oom_report *report, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_origin_json(&report->at, file, &json);
    ml_json_kv_u64(&json, "refused", report->refusals.standing);
    ml_json_kv_u64(&json, "recovered", report->refusals.recovered);
    ml_json_key(&json, "verdicts");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < report->list.len; i++)
        verdict_json(&json, &report->list.items[i]);
    ml_json_end_array(&json);
    leak_json(&json, &report->leaks);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
