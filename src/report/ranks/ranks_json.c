/* ranks_json.c: a job and its ranks as JSON; see ranks_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "event_names.h"
#include "json.h"
#include "ranks_report.h"

static const char *kind_name(enum ml_rank_kind kind)
{
    static const char *const names[ML_RANK_KINDS] = {
        [ML_RANK_OOM] = "oom",         [ML_RANK_KILLED] = "killed",   [ML_RANK_FAILED] = "failed",
        [ML_RANK_STOPPED] = "stopped", [ML_RANK_UNENDED] = "unended", [ML_RANK_MISSING] = "missing",
        [ML_RANK_LEAKS] = "leaks",     [ML_RANK_ABOVE] = "above",     [ML_RANK_BELOW] = "below",
        [ML_RANK_MODULES] = "modules", [ML_RANK_LOST] = "lost",
    };

    return names[kind];
}

static const char *cause_name(enum ml_rank_cause cause)
{
    static const char *const names[] = {
        [ML_CAUSE_UNKNOWN] = "unknown",           [ML_CAUSE_LONGER] = "longer_input",
        [ML_CAUSE_INPUT_THERE] = "one_module",    [ML_CAUSE_UNSHARDED] = "sharding",
        [ML_CAUSE_EXTRA_MODULE] = "extra_module", [ML_CAUSE_LACKS_MODULE] = "lacks_module",
        [ML_CAUSE_GATHERED] = "gathered",         [ML_CAUSE_EVERYWHERE] = "most_ranks",
    };

    return names[cause];
}

static int put_finding(struct ml_json *json, const struct ml_rank_finding *f)
{
    const struct ml_style style = {0};
    struct ml_buf words = {0};
    int r = ml_rank_finding_words(f, &style, &words);

    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "kind", kind_name(f->kind));
    ml_json_kv_cstr(json, "cause", cause_name(f->cause));
    ml_json_key(json, "ranks");
    ml_json_begin_array(json);
    for (size_t i = 0; i < f->ranks.len; i++)
        ml_json_u64(json, f->ranks.items[i]);
    ml_json_end_array(json);
    ml_json_kv_u64(json, "worst_rank", f->worst);
    ml_json_kv_i64(json, f->kind == ML_RANK_LOST ? "events" : "bytes", f->bytes);
    if (f->has_category) {
        ml_json_kv_cstr(json, "category", ml_category_name(f->category));
        ml_json_kv_i64(json, "category_bytes", f->part_bytes);
        ml_json_kv_double(json, "ratio", f->ratio);
    }
    ml_json_kv_cstr(json, "module", f->module);
    ml_json_kv_cstr(json, "shared", f->shared);
    ml_json_kv_cstr(json, "text", (const char *)words.data);
    ml_json_end_object(json);
    ml_buf_release(&words);
    return r;
}

static void put_row(struct ml_json *json, const struct ml_ranks *ranks, size_t index)
{
    const struct ml_rank_row *row = &ranks->rows.items[index];

    ml_json_begin_object(json);
    ml_json_kv_u64(json, "rank", row->rank);
    ml_json_kv_cstr(json, "file", row->source->file);
    ml_json_kv_u64(json, "pid", row->of->pid);
    ml_json_kv_cstr(json, "host", row->host);
    ml_json_kv_cstr(json, "place", row->of->place);
    ml_json_kv_u64(json, "group", row->group);
    ml_json_kv_cstr(json, "device", row->device);
    ml_json_kv_u64(json, "peak_bytes", row->peak_bytes);
    ml_json_kv_i64(json, "above_bytes", row->above_bytes);
    ml_json_kv_u64(json, "growth_bytes", row->growth_bytes);
    if (row->has_limit) {
        ml_json_kv_u64(json, "limit_bytes", row->limit_bytes);
        ml_json_kv_i64(json, "headroom_bytes", row->headroom_bytes);
    }
    ml_json_kv_u64(json, "steps", row->of->steps);
    ml_json_kv_cstr(json, "ended", ml_ending_name(row->of->ending));
    ml_json_kv_u64(json, "ooms", row->of->ooms);
    ml_json_kv_u64(json, "lost", row->source->digest->lost);
    ml_json_key(json, "step_peaks");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ranks->columns; i++)
        ml_json_u64(json, ml_ranks_cell(ranks, index, i));
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_group(struct ml_json *json, const struct ml_rank_group *g)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "name", g->name);
    ml_json_kv_u64(json, "ranks", g->count);
    ml_json_kv_u64(json, "median_bytes", g->median_bytes);
    ml_json_kv_u64(json, "least_bytes", g->least_bytes);
    ml_json_kv_u64(json, "most_bytes", g->most_bytes);
    ml_json_kv_u64(json, "deviation_bytes", g->deviation_bytes);
    ml_json_kv_u64(json, "allowed_bytes", g->allowed_bytes);
    ml_json_end_object(json);
}

static void put_ledger(struct ml_json *json, const struct ml_ranks *ranks)
{
    ml_json_key(json, "categories");
    ml_json_begin_object(json);
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        ml_json_kv_u64(json, ml_category_name(i), ranks->category_bytes[i]);
    ml_json_end_object(json);
    if (!ranks->has_ledger)
        return;
    ml_json_key(json, "ledger");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "used_bytes", ranks->used_bytes);
    ml_json_kv_u64(json, "total_bytes", ranks->total_bytes);
    ml_json_kv_i64(json, "unexplained_bytes", ranks->unexplained_bytes);
    ml_json_key(json, "entries");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ranks->ledger.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "name", ranks->ledger.items[i].name);
        ml_json_kv_i64(json, "bytes", ranks->ledger.items[i].bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void put_clocks(struct ml_json *json, const struct ml_ranks *ranks)
{
    ml_json_key(json, "clocks");
    ml_json_begin_array(json);
    for (size_t i = 0; i < ranks->clocks.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "host", ranks->clocks.items[i].host);
        ml_json_kv_i64(json, "ahead_ns", ranks->clocks.items[i].ahead_ns);
        ml_json_kv_u64(json, "error_ns", ranks->clocks.items[i].error_ns);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void put_head(struct ml_json *json, const struct ml_ranks *ranks)
{
    ml_json_kv_cstr(json, "job", ranks->job);
    ml_json_kv_cstr(json, "command", ranks->command);
    ml_json_kv_u64(json, "start_wall_ns", ranks->start_wall_ns);
    ml_json_kv_u64(json, "world_size", ranks->world_size);
    ml_json_kv_u64(json, "present", ranks->rows.len);
    ml_json_kv_u64(json, "hosts", ranks->hosts);
    ml_json_kv_u64(json, "steps", ranks->steps);
    ml_json_kv_u64(json, "steps_per_column", ranks->steps_per_column);
    ml_json_kv_u64(json, "other_jobs", ranks->other_jobs);
    ml_json_kv_u64(json, "repeated", ranks->repeated);
    ml_json_kv_u64(json, "peak_sum_bytes", ranks->peak_sum_bytes);
    ml_json_kv_u64(json, "peak_mean_bytes", ranks->peak_mean_bytes);
    ml_json_kv_u64(json, "peak_most_bytes", ranks->peak_most_bytes);
    ml_json_kv_u64(json, "peak_least_bytes", ranks->peak_least_bytes);
    ml_json_kv_double(json, "imbalance_percent", ranks->imbalance_percent);
    if (ranks->nearest_row != SIZE_MAX)
        ml_json_kv_u64(json, "nearest_rank", ranks->rows.items[ranks->nearest_row].rank);
}

int ml_ranks_json(const struct ml_ranks *ranks, struct ml_buf *out)
{
    struct ml_json json;
    int r = 0, finished;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    put_head(&json, ranks);
    ml_json_key(&json, "findings");
    ml_json_begin_array(&json);
    for (size_t i = 0; r == 0 && i < ranks->findings.len; i++)
        r = put_finding(&json, &ranks->findings.items[i]);
    ml_json_end_array(&json);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < ranks->groups.len; i++)
        put_group(&json, &ranks->groups.items[i]);
    ml_json_end_array(&json);
    put_ledger(&json, ranks);
    put_clocks(&json, ranks);
    ml_json_key(&json, "ranks");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < ranks->rows.len; i++)
        put_row(&json, ranks, i);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    finished = ml_json_finish(&json);
    return r < 0 ? r : finished;
}
