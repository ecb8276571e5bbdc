/* digest_report.c: see digest_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_report.h"

#include "event_names.h"
#include "json.h"

static void put_modules(struct ml_json *json, const struct ml_digest *digest,
                        const struct ml_digest_rank *rank, size_t line)
{
    const uint64_t *values = ml_digest_values(rank, line);

    ml_json_key(json, "modules");
    ml_json_begin_array(json);
    for (size_t i = 0; i < rank->cells.len; i++) {
        if (values[i] == 0)
            continue;
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "module", digest->modules.items[rank->cells.items[i].module].path);
        ml_json_kv_cstr(json, "category", ml_category_name(rank->cells.items[i].category));
        ml_json_kv_u64(json, "bytes", values[i]);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_rows(struct ml_json *json, const struct ml_digest *digest,
                     const struct ml_digest_rank *rank)
{
    ml_json_kv_u64(json, "steps", rank->steps);
    ml_json_kv_u64(json, "steps_per_row", rank->steps_per_row);
    ml_json_key(json, "rows");
    ml_json_begin_array(json);
    for (size_t i = 0; i < rank->rows.len; i++) {
        const struct ml_digest_row *row = &rank->rows.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "number", row->number);
        ml_json_kv_u64(json, "begin_ns", row->begin_ns);
        ml_json_kv_u64(json, "end_ns", row->end_ns);
        ml_json_kv_u64(json, "peak_bytes", row->peak_bytes);
        ml_json_kv_u64(json, "end_bytes", row->end_bytes);
        put_modules(json, digest, rank, 1 + i);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_devices(struct ml_json *json, const struct ml_digest_rank *rank)
{
    ml_json_key(json, "devices");
    ml_json_begin_array(json);
    for (size_t i = 0; i < rank->devices.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "device", rank->devices.items[i].name);
        ml_json_kv_u64(json, "peak_bytes", rank->devices.items[i].peak_bytes);
        ml_json_kv_u64(json, "peak_time_ns", rank->devices.items[i].peak_time_ns);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_ending(struct ml_json *json, const struct ml_digest_rank *rank)
{
    ml_json_kv_cstr(json, "ended", ml_ending_name(rank->ending));
    if (rank->ending == ML_ENDING_EXIT)
        ml_json_kv_u64(json, "exit_code", rank->exit_code);
    if (rank->ending == ML_ENDING_SIGNAL)
        ml_json_kv_u64(json, "signal", rank->signal);
}

static void put_rank(struct ml_json *json, const struct ml_digest *digest,
                     const struct ml_digest_rank *rank)
{
    ml_json_begin_object(json);
    if (rank->rank)
        ml_json_kv_u64(json, "rank", rank->rank - 1);
    ml_json_kv_cstr(json, "place", rank->place);
    ml_json_kv_cstr(json, "command", rank->command);
    ml_json_kv_u64(json, "pid", rank->pid);
    ml_json_kv_u64(json, "processes", rank->processes);
    put_ending(json, rank);
    ml_json_kv_u64(json, "start_ns", rank->start_ns);
    ml_json_kv_u64(json, "end_ns", rank->end_ns);
    ml_json_kv_u64(json, "ooms", rank->ooms);
    ml_json_kv_u64(json, "allocations", rank->allocations);
    put_devices(json, rank);
    if (rank->values.len > 0)
        put_modules(json, digest, rank, 0);
    put_rows(json, digest, rank);
    ml_json_key(json, "curve");
    ml_json_begin_array(json);
    for (size_t i = 0; i < rank->curve.len; i++)
        ml_json_u64(json, rank->curve.items[i]);
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_book(struct ml_json *json, const struct ml_digest_book *book)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "device", book->device);
    if (book->sampled) {
        ml_json_kv_u64(json, "used_bytes", book->used_bytes);
        ml_json_kv_i64(json, "unexplained_bytes", book->unexplained_bytes);
    }
    if (book->has_total)
        ml_json_kv_u64(json, "total_bytes", book->total_bytes);
    ml_json_key(json, "entries");
    ml_json_begin_array(json);
    for (size_t i = 0; i < book->entries.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "name", book->entries.items[i].name);
        ml_json_kv_i64(json, "bytes", book->entries.items[i].bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_facts(struct ml_json *json, const struct ml_digest *d)
{
    ml_json_kv_cstr(json, "command", d->command);
    ml_json_kv_cstr(json, "host", d->host);
    ml_json_kv_u64(json, "trace_bytes", d->trace_bytes);
    ml_json_kv_u64(json, "start_wall_ns", d->start_wall_ns);
    ml_json_kv_u64(json, "end_ns", d->end_ns);
    ml_json_kv_u64(json, "events", d->events);
    ml_json_kv_u64(json, "lost", d->lost);
    ml_json_kv_bool(json, "cut_short", d->cut_short);
    if (d->killed_at_limit_bytes)
        ml_json_kv_u64(json, "killed_at_limit_bytes", d->killed_at_limit_bytes);
    if (d->memory_limit_bytes)
        ml_json_kv_u64(json, "memory_limit_bytes", d->memory_limit_bytes);
    ml_json_key(json, "settings");
    ml_json_begin_object(json);
    for (size_t i = 0; i < d->settings.len; i++)
        ml_json_kv_cstr(json, d->settings.items[i].key, d->settings.items[i].value);
    ml_json_end_object(json);
}

int ml_digest_json(const struct ml_digest *digest, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    put_facts(&json, digest);
    ml_json_key(&json, "ledgers");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < digest->books.len; i++)
        put_book(&json, &digest->books.items[i]);
    ml_json_end_array(&json);
    ml_json_key(&json, "ranks");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < digest->ranks.len; i++)
        put_rank(&json, digest, &digest->ranks.items[i]);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
