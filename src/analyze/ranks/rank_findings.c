/* rank_findings.c: what is wrong with which rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "rank_parts.h"

static int add(struct ml_ranks *ranks, struct ml_rank_finding *finding, uint32_t rank)
{
    finding->worst = rank;
    finding->shared = "";
    if (!finding->module)
        finding->module = "";
    if (ml_vec_push(&finding->ranks, rank) < 0)
        return -ENOMEM;
    if (ml_vec_push(&ranks->findings, *finding) == 0)
        return 0;
    ml_vec_release(&finding->ranks);
    return -ENOMEM;
}

static uint64_t ended_wall_ns(const struct ml_rank_row *row)
{
    return row->source->digest->start_wall_ns + row->of->end_ns;
}

/* ---- Ends ------------------------------------------------------------------------ */

static bool was_refused(const struct ml_rank_row *row)
{
    return row->of->ending != ML_ENDING_EXIT || row->of->exit_code != 0 ? row->of->ooms > 0 : false;
}

static bool was_killed_at_limit(const struct ml_rank_row *row)
{
    return row->source->digest->killed_at_limit_bytes > 0 && row->of->ending == ML_ENDING_SIGNAL &&
           row->of->signal == SIGKILL;
}

static bool find_end(const struct ml_rank_row *row, struct ml_rank_finding *f)
{
    const struct ml_digest_rank *of = row->of;

    f->signal = of->signal;
    f->exit_code = of->exit_code;
    f->wall_ns = ended_wall_ns(row);
    if (was_refused(row) || was_killed_at_limit(row))
        f->kind = ML_RANK_OOM;
    else if (of->ending == ML_ENDING_SIGNAL)
        f->kind = of->signal == SIGTERM ? ML_RANK_STOPPED : ML_RANK_KILLED;
    else if (of->ending == ML_ENDING_EXIT && of->exit_code != 0)
        f->kind = ML_RANK_FAILED;
    else if (row->source->digest->cut_short && of->ending == ML_ENDING_UNKNOWN)
        f->kind = ML_RANK_UNENDED;
    else
        return false;
    return true;
}

/* Ray kills its workers, or lets them exit with 1, when their work is done. */
static bool was_ended_by_ray(const struct ml_ranks *ranks, const struct ml_rank_row *row)
{
    const char *at = row->of->place, *key, *value;
    size_t key_len, value_len;

    while (ml_place_next(&at, &key, &key_len, &value, &value_len))
        if (key_len == strlen("launcher") && memcmp(key, "launcher", key_len) == 0)
            return value_len == strlen("ray") && memcmp(value, "ray", value_len) == 0 &&
                   row->of->steps > 0 && row->of->steps == ranks->steps;
    return false;
}

static int find_ends(struct ml_ranks *ranks)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++) {
        struct ml_rank_finding f = {.worst_row = i};

        if (find_end(&ranks->rows.items[i], &f) &&
            (f.kind == ML_RANK_OOM || !was_ended_by_ray(ranks, &ranks->rows.items[i])))
            r = add(ranks, &f, ranks->rows.items[i].rank);
    }
    return r;
}

static int find_missing(struct ml_ranks *ranks)
{
    size_t at = 0;
    int r = 0;

    for (uint64_t rank = 0; r == 0 && rank < ranks->world_size; rank++) {
        struct ml_rank_finding f = {.kind = ML_RANK_MISSING, .worst_row = SIZE_MAX};

        while (at < ranks->rows.len && ranks->rows.items[at].rank < rank)
            at++;
        if (at == ranks->rows.len || ranks->rows.items[at].rank != rank)
            r = add(ranks, &f, (uint32_t)rank);
    }
    return r;
}

/* ---- Memory ------------------------------------------------------------------------ */

static int find_modules(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row)
{
    size_t other = ranks->groups.items[ranks->rows.items[row].group].first_of_modules;
    struct ml_rank_finding f = {
        .kind = ML_RANK_MODULES, .cause = ML_CAUSE_EXTRA_MODULE, .worst_row = row};
    const char *lacks;

    if (m->signatures.items[row] == m->signatures.items[other])
        return 0;
    f.bytes = ranks->rows.items[row].above_bytes;
    f.module = ml_rank_extra_module(ranks, m, row, other);
    lacks = ml_rank_extra_module(ranks, m, other, row);
    if (f.module && lacks && ranks->groups.items[ranks->rows.items[row].group].mixed)
        return 0;
    if (!f.module) {
        f.module = lacks;
        f.cause = ML_CAUSE_LACKS_MODULE;
    }
    return f.module ? add(ranks, &f, ranks->rows.items[row].rank) : 0;
}

static bool has_ended_early(const struct ml_ranks *ranks, const struct ml_rank_row *row)
{
    struct ml_rank_finding f = {0};

    return find_end(row, &f) && row->of->steps < ranks->steps;
}

/* A rank that ended before the others may have had no time to reach its peak. */
static bool differs(const struct ml_ranks *ranks, const struct ml_rank_row *row)
{
    uint64_t allowed = ranks->groups.items[row->group].allowed_bytes;
    uint64_t distance = (uint64_t)(row->above_bytes < 0 ? -row->above_bytes : row->above_bytes);

    return distance > allowed && !(row->above_bytes < 0 && has_ended_early(ranks, row));
}

static int find_memory(struct ml_ranks *ranks, struct ml_rank_modules *m, size_t row)
{
    const struct ml_rank_row *own = &ranks->rows.items[row];
    struct ml_rank_finding f = {.worst_row = row};
    size_t before = ranks->findings.len;
    int r = find_modules(ranks, m, row);

    if (own->growth_bytes > 0) {
        f.kind = ML_RANK_LEAKS;
        f.bytes = (int64_t)own->growth_bytes;
    } else if (ranks->findings.len == before && differs(ranks, own)) {
        f.kind = own->above_bytes > 0 ? ML_RANK_ABOVE : ML_RANK_BELOW;
        f.bytes = own->above_bytes;
    } else {
        return r;
    }
    if (r == 0)
        r = ml_rank_reason(ranks, m, row, &f);
    return r < 0 ? r : add(ranks, &f, own->rank);
}

static int find_losses(struct ml_ranks *ranks)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++) {
        struct ml_rank_finding f = {.kind = ML_RANK_LOST, .worst_row = i};

        f.bytes = (int64_t)ranks->rows.items[i].source->digest->lost;
        if (f.bytes > 0)
            r = add(ranks, &f, ranks->rows.items[i].rank);
    }
    return r;
}

/* The module's name belongs to a table that ends with the analysis. */
static int keep_names(struct ml_ranks *ranks)
{
    for (size_t i = 0; i < ranks->findings.len; i++) {
        struct ml_rank_finding *f = &ranks->findings.items[i];

        f->module = ml_arena_dup(&ranks->arena, f->module, strlen(f->module));
        if (!f->module)
            return -ENOMEM;
    }
    return 0;
}

int ml_rank_findings(struct ml_ranks *ranks, struct ml_rank_modules *m)
{
    int r = find_ends(ranks);

    if (r == 0)
        r = find_missing(ranks);
    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++)
        r = find_memory(ranks, m, i);
    if (r == 0)
        r = find_losses(ranks);
    return r < 0 ? r : keep_names(ranks);
}
