/* digest_maker.c: see digest_maker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "digest_ranks.h"
#include "killed_setting.h"
#include "ledger.h"
#include "host_settings.h"
#include "samples.h"
#include "summary_tables.h"

#define SETTINGS_MAX 64
#define BOOKS_MAX 16

/* ---- Processes ----------------------------------------------------------------- */

static const char *copy(struct ml_digest *digest, const char *text)
{
    return text ? ml_arena_dup(&digest->arena, text, strlen(text)) : NULL;
}

/* The process with the highest peak comes first and speaks for the rank. */
static int add_process(struct ml_digest *digest, struct ml_digest_rank *to,
                       const struct ml_summary_process *p)
{
    to->allocations += p->counted.allocations;
    if (to->processes++ > 0)
        return 0;
    to->place = copy(digest, p->place ? p->place : "");
    to->command = copy(digest, p->command);
    to->pid = p->pid;
    to->ending = p->ending;
    to->exit_code = (uint32_t)p->exit_code;
    to->signal = (uint32_t)p->signal;
    to->start_ns = p->start_ns;
    to->end_ns = p->end_ns;
    return to->place && to->command ? 0 : -ENOMEM;
}

static int add_processes(struct ml_digest *digest, const struct ml_rank_table *table,
                         const struct ml_replay *at_end)
{
    struct ml_summary summary = {0};
    int r = ml_summary_processes(at_end, &summary);

    for (size_t i = 0; r == 0 && i < summary.processes.len; i++) {
        const struct ml_summary_process *p = &summary.processes.items[i];
        uint32_t index = table->of_process.items[p->number];

        if (index)
            r = add_process(digest, &digest->ranks.items[index - 1], p);
    }
    ml_summary_release(&summary);
    return r;
}

/* A column in which nothing changed has the total of the one before. */
static void fill_curves(struct ml_digest *digest)
{
    double width = (double)digest->end_ns / ML_DIGEST_COLUMNS;

    for (size_t n = 0; n < digest->ranks.len; n++) {
        struct ml_digest_rank *rank = &digest->ranks.items[n];

        for (size_t i = 1; i < rank->curve.len; i++)
            if (rank->curve.items[i] == 0 && (double)i * width < (double)rank->end_ns)
                rank->curve.items[i] = rank->curve.items[i - 1];
    }
}

/* ---- The ledger ------------------------------------------------------------------ */

static int add_entries(struct ml_digest *digest, const struct ml_ledger_entry *from,
                       struct ml_digest_book *to)
{
    for (size_t i = 0; i < from->entries.len && i < ML_DIGEST_ENTRIES_MAX; i++) {
        const struct ml_ledger_entry *entry = &from->entries.items[i];
        const char *name = copy(digest, entry->name);

        if (!name || ml_vec_push(&to->entries, (struct ml_digest_entry){name, entry->bytes}) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int add_book(struct ml_digest *digest, const struct ml_ledger_device *from)
{
    struct ml_digest_book *to;

    if (ml_vec_push(&digest->books, (struct ml_digest_book){0}) < 0)
        return -ENOMEM;
    to = &digest->books.items[digest->books.len - 1];
    to->device = copy(digest, from->name);
    to->sampled = from->sampled;
    to->used_bytes = from->sampled ? from->used_bytes : 0;
    to->has_total = from->has_total;
    to->total_bytes = from->has_total ? from->total_bytes : 0;
    to->unexplained_bytes = from->sampled ? from->unexplained_bytes : 0;
    return to->device ? add_entries(digest, &from->book, to) : -ENOMEM;
}

/* Of the GPUs; of the host, if there are none. A trace may have no book. */
static int add_books(struct ml_digest *digest, const struct ml_trace *trace, struct ml_error *err)
{
    struct ml_ledger_opts opts = {.at = {.kind = ML_AT_PEAK}, .top = 0};
    struct ml_ledger ledger;
    int r = ml_ledger(trace, &opts, &ledger, err);

    if (r != -ENOMEM && (r < 0 || ledger.devices.len == 0)) {
        ml_ledger_release(&ledger);
        opts.device = ML_LEDGER_HOST;
        r = ml_ledger(trace, &opts, &ledger, err);
    }
    for (size_t i = 0; r == 0 && i < ledger.devices.len && i < BOOKS_MAX; i++)
        r = add_book(digest, &ledger.devices.items[i]);
    ml_ledger_release(&ledger);
    return r == -ENOMEM || r == -EBADMSG || r == -EIO ? r : 0;
}

/* ---- The whole ------------------------------------------------------------------- */

static int add_settings(struct ml_digest *digest, const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_configs(trace) && i < SETTINGS_MAX; i++) {
        const struct ml_config *config = ml_trace_config(trace, i);
        struct ml_digest_setting setting = {
            copy(digest, ml_trace_string(trace, config->key, NULL)),
            copy(digest, ml_trace_string(trace, config->value, NULL))};

        if (!setting.key || !setting.value || ml_vec_push(&digest->settings, setting) < 0)
            return -ENOMEM;
    }
    return 0;
}

static uint64_t setting_bytes(const struct ml_trace *trace, const char *key)
{
    const char *value = ml_trace_setting(trace, key);
    uint64_t bytes = value ? strtoull(value, NULL, 10) : 0;

    return bytes < ML_BYTES_MAX ? bytes : 0;
}

/* The most of all processes. */
static uint64_t heap_sampled_bytes(const struct ml_trace *trace)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++)
        most = ml_max_u64(most, ml_trace_space(trace, i)->sampled_bytes);
    return most;
}

static void add_facts(struct ml_digest *digest, const struct ml_replay *at_end)
{
    const struct ml_trace_info *info = ml_trace_info(at_end->trace);
    struct ml_health health = ml_health_of(at_end);

    digest->command = copy(digest, ml_trace_setting(at_end->trace, "command"));
    digest->host = copy(digest, ml_trace_setting(at_end->trace, "host"));
    digest->trace_bytes = info->file_bytes;
    digest->start_wall_ns = info->start_wall_ns;
    digest->end_ns = info->end_ns;
    digest->events = at_end->events;
    digest->lost = health.lost;
    digest->cut_short = health.cut_short;
    digest->killed_at_limit_bytes = setting_bytes(at_end->trace, ML_SETTING_KILLED_AT_LIMIT);
    digest->memory_limit_bytes = setting_bytes(at_end->trace, ML_SETTING_MEMORY_LIMIT);
    digest->heap_sampled_bytes = heap_sampled_bytes(at_end->trace);
}

static int begin_ranks(struct ml_digest *digest, const struct ml_rank_table *table)
{
    for (size_t i = 0; i < table->ranks.len; i++) {
        const struct ml_digest_rank rank = {
            .rank = table->ranks.items[i], .place = "", .command = ""};

        if (ml_vec_push(&digest->ranks, rank) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int make(const struct ml_trace *trace, const struct ml_rank_table *table,
                struct ml_digest *ret, struct ml_error *err)
{
    struct ml_classes classes = {0};
    struct ml_replay at_end = {0};
    int r = begin_ranks(ret, table);

    if (r == 0)
        r = ml_classify(trace, &classes, err);
    if (r == 0)
        r = ml_digest_ranks(trace, table, &classes, &at_end, ret, err);
    if (r == 0) {
        add_facts(ret, &at_end);
        r = add_processes(ret, table, &at_end);
    }
    ml_replay_release(&at_end);
    ml_classes_release(&classes);
    fill_curves(ret);
    if (r == 0)
        r = add_books(ret, trace, err);
    return r < 0 ? r : add_settings(ret, trace);
}

int ml_digest_make(const struct ml_trace *trace, struct ml_digest *ret, struct ml_error *err)
{
    struct ml_rank_table table;
    int r = ml_rank_table_init(&table, trace);

    *ret = (struct ml_digest){0};
    if (r == 0)
        r = make(trace, &table, ret, err);
    ml_rank_table_release(&table);
    if (r == -ENOMEM)
        ml_error_set(err, r, "out of memory");
    return r;
}
