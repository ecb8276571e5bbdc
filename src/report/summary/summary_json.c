/* summary_json.c: a summary as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary_report.h"

#include "health_report.h"
#include "event_names.h"
#include "summary_caches.h"
#include "summary_samples.h"
#include "summary_steps.h"

void ml_figures_json(const struct ml_figures *figures, struct ml_json *json)
{
    ml_json_kv_u64(json, "allocations", figures->allocations);
    ml_json_kv_u64(json, "frees", figures->frees);
    ml_json_kv_u64(json, "allocated_bytes", figures->allocated_bytes);
    ml_json_kv_u64(json, "peak_bytes", figures->peak_bytes);
    ml_json_kv_u64(json, "peak_time_ns", figures->peak_time_ns);
    ml_json_kv_u64(json, "live_bytes", figures->live_bytes);
    ml_json_kv_u64(json, "live_blocks", figures->live_blocks);
    ml_json_kv_u64(json, "never_freed_bytes", figures->left_bytes);
    ml_json_kv_u64(json, "never_freed_blocks", figures->left_blocks);
}

static void device_json(const struct ml_summary_device *device, bool has_modules,
                        struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", device->name);
    ml_figures_json(&device->counted, json);
    ml_json_kv_u64(json, "at_peak_bytes", device->at_peak_bytes);
    if (has_modules)
        ml_json_kv_u64(json, "named_bytes_at_peak", device->named_bytes_at_peak);
    else
        ml_json_kv_null(json, "named_bytes_at_peak");
    ml_json_key(json, "levels");
    ml_json_begin_array(json);
    for (uint32_t level = ML_LEVELS; level-- > 1;) {
        if (!device->has_level[level])
            continue;
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "level", ml_level_name(level));
        ml_figures_json(&device->levels[level], json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void category_json(const struct ml_summary_category *c, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "category", c->name);
    ml_json_kv_u64(json, "allocations", c->allocations);
    ml_json_kv_u64(json, "frees", c->frees);
    ml_json_kv_u64(json, "at_peak_bytes", c->at_peak_bytes);
    ml_json_kv_u64(json, "at_peak_blocks", c->at_peak_blocks);
    ml_json_kv_double(json, "at_peak_percent", c->at_peak_percent);
    ml_json_kv_u64(json, "peak_bytes", c->peak_bytes);
    ml_json_kv_u64(json, "peak_time_ns", c->peak_time_ns);
    ml_json_kv_u64(json, "live_bytes", c->live_bytes);
    ml_json_kv_u64(json, "never_freed_bytes", c->left_bytes);
    ml_json_end_object(json);
}

static void entries_json(const struct ml_summary_entries *entries, const char *key,
                         struct ml_json *json)
{
    ml_json_key(json, key);
    ml_json_begin_array(json);
    for (size_t i = 0; i < entries->list.len; i++) {
        const struct ml_summary_entry *e = &entries->list.items[i];

        ml_json_begin_object(json);
        if (e->label) {
            ml_json_kv_cstr(json, "label", e->label);
            ml_json_kv_cstr(json, "category", e->category);
        }
        ml_json_kv_cstr(json, "scope", e->scope);
        ml_json_kv_cstr(json, "module", e->module);
        ml_json_kv_cstr(json, "class", e->class_name);
        ml_json_kv_cstr(json, "phase", e->phase);
        ml_json_kv_u64(json, "at_peak_bytes", e->at_peak_bytes);
        ml_json_kv_u64(json, "at_peak_blocks", e->at_peak_blocks);
        ml_json_kv_double(json, "at_peak_percent", e->at_peak_percent);
        ml_json_kv_u64(json, "live_bytes", e->live_bytes);
        ml_json_kv_u64(json, "never_freed_bytes", e->left_bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

void ml_process_json(const struct ml_process_names *names, struct ml_json *json)
{
    ml_json_kv_u64(json, "pid", names->pid);
    ml_json_kv_cstr(json, "command", names->command);
    if (names->role)
        ml_json_kv_cstr(json, "role", names->role);
    if (names->rank)
        ml_json_kv_u64(json, "rank", names->rank - 1);
}

static void process_json(const struct ml_summary_process *p, struct ml_json *json)
{
    const struct ml_process_names names = {p->pid, p->command, p->role, p->rank};

    ml_json_begin_object(json);
    ml_process_json(&names, json);
    if (p->place)
        ml_json_kv_cstr(json, "place", p->place);
    ml_json_kv_cstr(json, "how", p->how);
    ml_json_kv_u64(json, "threads", p->threads);
    ml_json_kv_u64(json, "start_ns", p->start_ns);
    ml_json_kv_u64(json, "end_ns", p->end_ns);
    ml_json_kv_cstr(json, "ended",
                    p->ending == ML_ENDING_NOT_TOLD ? NULL : ml_ending_name(p->ending));
    if (p->ending == ML_ENDING_EXIT)
        ml_json_kv_i64(json, "exit_code", p->exit_code);
    else
        ml_json_kv_null(json, "exit_code");
    if (p->ending == ML_ENDING_SIGNAL)
        ml_json_kv_i64(json, "signal", p->signal);
    else
        ml_json_kv_null(json, "signal");
    ml_figures_json(&p->counted, json);
    ml_json_end_object(json);
}

static void named_json(const struct ml_summary *s, struct ml_json *json)
{
    if (!s->has_modules) {
        ml_json_kv_null(json, "named_bytes_at_peak");
        ml_json_kv_null(json, "named_percent_at_peak");
        ml_json_kv_null(json, "backward_allocated_bytes");
        ml_json_kv_null(json, "backward_named_bytes");
        return;
    }
    ml_json_kv_u64(json, "named_bytes_at_peak", s->named_bytes_at_peak);
    ml_json_kv_double(json, "named_percent_at_peak", s->named_percent_at_peak);
    ml_json_kv_u64(json, "backward_allocated_bytes", s->backward_allocated_bytes);
    ml_json_kv_u64(json, "backward_named_bytes", s->backward_named_bytes);
}

static void head_json(const struct ml_summary *s, const char *file, struct ml_json *json)
{
    ml_json_kv_cstr(json, "file", file);
    ml_json_kv_cstr(json, "command", s->command);
    ml_json_kv_cstr(json, "host", s->host);
    ml_json_kv_u64(json, "start_wall_ns", s->start_wall_ns);
    ml_json_kv_u64(json, "duration_ns", s->duration_ns);
    ml_json_kv_u64(json, "events", s->events);
    ml_json_kv_u64(json, "file_bytes", s->file_bytes);
    ml_figures_json(&s->counted, json);
    ml_json_kv_u64(json, "lost", s->health.lost);
    ml_json_kv_u64(json, "out_of_memory", s->ooms);
    ml_json_kv_u64(json, "threads", s->threads);
    ml_json_kv_u64(json, "process_count", s->process_count);
    named_json(s, json);
    ml_health_json(&s->health, json);
}

int ml_summary_json(const struct ml_summary *s, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    head_json(s, file, &json);
    ml_json_key(&json, "by_device");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < s->devices.len; i++)
        device_json(&s->devices.items[i], s->has_modules, &json);
    ml_json_end_array(&json);
    ml_json_key(&json, "by_category");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < s->categories.len; i++)
        category_json(&s->categories.items[i], &json);
    ml_json_end_array(&json);
    entries_json(&s->scopes, "by_scope", &json);
    entries_json(&s->labels, "by_label", &json);
    ml_json_key(&json, "processes");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < s->processes.len; i++)
        process_json(&s->processes.items[i], &json);
    ml_json_end_array(&json);
    ml_summary_caches_json(&s->caches, &json);
    ml_summary_steps_json(&s->steps, &json);
    ml_summary_samples_json(&s->samples, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
