/* stats_json.c: statistics as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats_report.h"

#include <stdio.h>

#include "health_report.h"
#include "event_names.h"
#include "summary_report.h"

/* Not known of samples. */
static void put_temporary(const struct ml_stats *s, struct ml_json *json)
{
    if (s->health.sampled_bytes) {
        ml_json_kv_null(json, "temporary_allocations");
        ml_json_kv_null(json, "temporary_bytes");
        ml_json_kv_null(json, "temporary_percent");
        return;
    }
    ml_json_kv_u64(json, "temporary_allocations", s->temporary);
    ml_json_kv_u64(json, "temporary_bytes", s->temporary_bytes);
    ml_json_kv_double(json, "temporary_percent", s->temporary_percent);
}

static void head_json(const struct ml_stats *s, const char *file, struct ml_json *json)
{
    ml_json_kv_cstr(json, "file", file);
    ml_json_kv_u64(json, "events", s->events);
    ml_json_kv_u64(json, "lost", s->health.lost);
    ml_json_kv_u64(json, "duration_ns", s->duration_ns);
    if (ml_health_no_times(&s->health))
        ml_json_kv_null(json, "events_per_second");
    else
        ml_json_kv_double(json, "events_per_second", s->events_per_second);
    ml_json_kv_u64(json, "file_bytes", s->file_bytes);
    ml_json_kv_u64(json, "event_bytes", s->event_bytes);
    ml_json_kv_double(json, "bytes_per_event", s->bytes_per_event);
    ml_json_kv_u64(json, "allocations", s->allocations);
    ml_json_kv_u64(json, "allocated_bytes", s->allocated_bytes);
    ml_json_kv_u64(json, "average_bytes", s->average_bytes);
    ml_json_kv_u64(json, "largest_bytes", s->largest_bytes);
    put_temporary(s, json);
    ml_json_kv_u64(json, "freed_blocks", s->freed);
    ml_json_kv_u64(json, "average_life_ns", s->average_life_ns);
    ml_json_kv_u64(json, "longest_life_ns", s->longest_life_ns);
    ml_health_json(&s->health, json);
}

static void sizes_json(const struct ml_stats *s, struct ml_json *json)
{
    ml_json_key(json, "sizes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->sizes.len; i++) {
        const struct ml_stats_size *size = &s->sizes.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "from_bytes", size->from_bytes);
        ml_json_kv_u64(json, "to_bytes", size->to_bytes);
        ml_json_kv_u64(json, "allocations", size->allocations);
        ml_json_kv_double(json, "percent", size->percent);
        ml_json_kv_u64(json, "allocated_bytes", size->allocated_bytes);
        ml_json_kv_u64(json, "freed_blocks", size->freed);
        ml_json_kv_u64(json, "average_life_ns", size->average_life_ns);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void kinds_json(const struct ml_stats *s, struct ml_json *json)
{
    ml_json_key(json, "kinds");
    ml_json_begin_object(json);
    for (uint32_t kind = 0; kind < ML_KIND_COUNT; kind++)
        if (s->kinds[kind] > 0)
            ml_json_kv_u64(json, ml_kind_name(kind), s->kinds[kind]);
    ml_json_end_object(json);
}

static void threads_json(const struct ml_stats *s, struct ml_json *json)
{
    ml_json_kv_u64(json, "thread_count", s->thread_total);
    ml_json_key(json, "threads");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->threads.len; i++) {
        const struct ml_stats_thread *t = &s->threads.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "pid", t->pid);
        ml_json_kv_u64(json, "tid", t->tid);
        ml_json_kv_cstr(json, "name", t->name);
        ml_json_kv_u64(json, "events", t->events);
        ml_json_kv_u64(json, "allocations", t->allocations);
        ml_json_kv_u64(json, "allocated_bytes", t->allocated_bytes);
        ml_json_kv_u64(json, "frees", t->frees);
        ml_json_kv_u64(json, "temporary_allocations", t->temporary);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void spaces_json(const struct ml_stats *s, struct ml_json *json)
{
    ml_json_key(json, "spaces");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->spaces.len; i++) {
        const struct ml_stats_space *space = &s->spaces.items[i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "device", space->device);
        ml_json_kv_cstr(json, "level", space->level);
        ml_json_kv_cstr(json, "space", space->name);
        ml_json_kv_u64(json, "pid", space->pid);
        ml_json_kv_bool(json, "counted", space->counted);
        ml_figures_json(&space->figures, json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void scopes_json(const struct ml_stats_scope *scopes, size_t count, const char *key,
                        struct ml_json *json)
{
    ml_json_key(json, key);
    ml_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "scope", scopes[i].path);
        ml_json_kv_u64(json, "allocations", scopes[i].allocations);
        ml_json_kv_u64(json, "allocated_bytes", scopes[i].allocated_bytes);
        ml_json_kv_u64(json, "temporary_allocations", scopes[i].temporary);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void largest_json(const struct ml_stats *s, struct ml_json *json)
{
    ml_json_key(json, "largest_live");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->largest.len; i++) {
        const struct ml_stats_block *b = &s->largest.items[i];
        char address[32];

        snprintf(address, sizeof(address), "0x%llx", (unsigned long long)b->address);
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "address", address);
        ml_json_kv_u64(json, "bytes", b->bytes);
        ml_json_kv_u64(json, "time_ns", b->time_ns);
        ml_json_kv_cstr(json, "device", b->device);
        ml_json_kv_cstr(json, "space", b->space);
        ml_json_kv_cstr(json, "scope", b->scope);
        ml_json_kv_cstr(json, "label", b->label);
        ml_json_kv_cstr(json, "category", b->category);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

/* Nanoseconds, bytes, or plain numbers. */
static void objects_json(const struct ml_stats *s, struct ml_json *json)
{
    static const char *const units[] = {"ns", "bytes", "1"};

    ml_json_key(json, "objects");
    ml_json_begin_array(json);
    for (size_t i = 0; i < s->objects.len; i++) {
        const struct ml_object_row *row = &s->objects.items[i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "category", row->category);
        ml_json_kv_cstr(json, "name", row->name);
        ml_json_kv_cstr(json, "unit", units[row->unit]);
        ml_json_kv_u64(json, "count", row->count);
        if (row->unit == ML_OBJECT_TIME)
            ml_json_kv_u64(json, "total", (uint64_t)row->sum);
        else
            ml_json_kv_i64(json, "last", row->last);
        ml_json_kv_i64(json, "min", row->min);
        ml_json_kv_i64(json, "max", row->max);
        ml_json_kv_double(json, "average", row->average);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

int ml_stats_json(const struct ml_stats *stats, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    head_json(stats, file, &json);
    sizes_json(stats, &json);
    kinds_json(stats, &json);
    threads_json(stats, &json);
    spaces_json(stats, &json);
    ml_json_kv_u64(&json, "scope_count", stats->scope_total);
    scopes_json(stats->by_count.items, stats->by_count.len, "scopes_by_allocations", &json);
    scopes_json(stats->by_bytes.items, stats->by_bytes.len, "scopes_by_bytes", &json);
    largest_json(stats, &json);
    objects_json(stats, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
