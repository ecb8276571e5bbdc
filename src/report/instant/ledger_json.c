/* ledger_json.c: a ledger as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_report.h"

#include "health_report.h"
#include "json.h"

static void entries_json(const struct ml_ledger_entry *parent, struct ml_json *json)
{
    ml_json_key(json, "entries");
    ml_json_begin_array(json);
    for (size_t i = 0; i < parent->entries.len; i++) {
        const struct ml_ledger_entry *entry = &parent->entries.items[i];

        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "name", entry->name);
        ml_json_kv_i64(json, "bytes", entry->bytes);
        if (entry->inferred)
            ml_json_kv_u64(json, "inferred_of_bytes", entry->of_bytes);
        entries_json(entry, json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void known_json(struct ml_json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        ml_json_kv_u64(json, key, value);
    else
        ml_json_kv_null(json, key);
}

static void device_json(const struct ml_ledger *ledger, const struct ml_ledger_device *d,
                        struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", d->name);
    ml_json_kv_cstr(json, "name", d->model);
    ml_json_kv_u64(json, "at_ns", d->at_ns);
    known_json(json, "sample_ns", d->sampled, d->sample_ns);
    ml_json_kv_cstr(json, "instant", ml_at_name(ledger->at.kind));
    known_json(json, "used_bytes", d->sampled, d->used_bytes);
    known_json(json, "free_bytes", d->has_free, d->free_bytes);
    known_json(json, "total_bytes", d->has_total, d->total_bytes);
    known_json(json, "reserved_bytes", d->has_reserved, d->reserved_bytes);
    entries_json(&d->book, json);
    ml_json_kv_i64(json, "explained_bytes", d->book.bytes);
    if (d->sampled) {
        ml_json_kv_i64(json, "unexplained_bytes", d->unexplained_bytes);
        ml_json_kv_double(json, "unexplained_percent", d->unexplained_percent);
    } else {
        ml_json_kv_null(json, "unexplained_bytes");
        ml_json_kv_null(json, "unexplained_percent");
    }
    ml_json_kv_bool(json, "balanced", d->balanced);
    ml_json_kv_bool(json, "other_processes_known", d->others_known);
    ml_json_kv_u64(json, "stray_bytes", d->stray_bytes);
    known_json(json, "ended_ns", d->ended_ns, d->ended_ns);
    known_json(json, "between_calls_ns", d->between_ns, d->between_ns);
    ml_json_end_object(json);
}

int ml_ledger_json(const struct ml_ledger *ledger, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "command", ledger->command);
    ml_json_kv_cstr(&json, "host", ledger->host);
    ml_json_kv_u64(&json, "start_wall_ns", ledger->start_wall_ns);
    ml_json_kv_u64(&json, "lost", ledger->health.lost);
    ml_health_json(&ledger->health, &json);
    ml_json_key(&json, "devices");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < ledger->devices.len; i++)
        device_json(ledger, &ledger->devices.items[i], &json);
    ml_json_end_array(&json);
    ml_json_kv_u64(&json, "bare_devices", ledger->bare_devices);
    ml_json_kv_u64(&json, "unlisted_devices", ledger->unlisted_devices);
    known_json(&json, "run_ended_ns", ledger->run_ended_ns, ledger->run_ended_ns);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
