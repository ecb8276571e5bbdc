/* rank_merge.c: one finding for all ranks that have the same, and what they have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rank_parts.h"

#define ALIKE 2.0       /* the highest ratio of the bytes of two findings that are the same … */
#define RATIO_SHARE 0.1 /* … unless their ratios to their peers differ by less than this */

static int64_t magnitude(int64_t bytes)
{
    return bytes < 0 ? -bytes : bytes;
}

static bool similar(int64_t a, int64_t b)
{
    return (double)magnitude(a) <= ALIKE * (double)magnitude(b) + 1 &&
           (double)magnitude(b) <= ALIKE * (double)magnitude(a) + 1;
}

/* Stages of a pipeline have different sizes: the same fault shows by its ratio. */
static bool similar_ratios(const struct ml_rank_finding *a, const struct ml_rank_finding *b)
{
    return a->cause != ML_CAUSE_UNKNOWN && a->ratio > 0 && b->ratio > 0 &&
           fabs(a->ratio - b->ratio) <= RATIO_SHARE * fmin(a->ratio, b->ratio);
}

static bool is_about_memory(enum ml_rank_kind kind)
{
    return kind == ML_RANK_LEAKS || kind == ML_RANK_ABOVE || kind == ML_RANK_BELOW ||
           kind == ML_RANK_MODULES;
}

static bool same(const struct ml_rank_finding *a, const struct ml_rank_finding *b)
{
    if (a->kind != b->kind || a->signal != b->signal || a->exit_code != b->exit_code)
        return false;
    if (!is_about_memory(a->kind))
        return true;
    return a->cause == b->cause && a->category == b->category &&
           strcmp(a->module, b->module) == 0 &&
           (similar(a->bytes, b->bytes) || similar_ratios(a, b));
}

/* The larger finding speaks for both; of ends, the earlier one. */
static bool is_worse(const struct ml_rank_finding *a, const struct ml_rank_finding *b)
{
    return is_about_memory(a->kind) ? magnitude(a->bytes) > magnitude(b->bytes)
                                    : a->wall_ns < b->wall_ns;
}

static int join(struct ml_rank_finding *into, struct ml_rank_finding *from)
{
    if (ml_vec_push(&into->ranks, from->ranks.items[0]) < 0)
        return -ENOMEM;
    if (is_worse(from, into)) {
        struct ml_rank_finding worse = *from;

        memcpy(&worse.ranks, &into->ranks, sizeof(worse.ranks));
        memset(&into->ranks, 0, sizeof(into->ranks));
        ml_vec_release(&from->ranks);
        *into = worse;
    } else {
        ml_vec_release(&from->ranks);
    }
    return 0;
}

/* Findings come in the order of their ranks. */
static int merge(struct ml_ranks *ranks)
{
    struct ml_rank_finding *list = ranks->findings.items;
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; i < ranks->findings.len; i++) {
        size_t to = 0;

        while (to < kept && (r < 0 || !same(&list[to], &list[i])))
            to++;
        if (to == kept)
            list[kept++] = list[i];
        else
            r = join(&list[to], &list[i]);
    }
    ranks->findings.len = kept;
    return r;
}

/* ---- What they share ------------------------------------------------------------------ */

static const struct ml_rank_row *row_of(const struct ml_ranks *ranks, uint32_t rank)
{
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].rank == rank)
            return &ranks->rows.items[i];
    return NULL;
}

/* Whether the place contains exactly this pair. */
static bool has_pair(const char *place, const char *pair, size_t len)
{
    for (const char *at = place; (at = strstr(at, pair)); at++)
        if ((at == place || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static bool has_it(const struct ml_rank_row *row, const char *host, const char *pair)
{
    return host ? strcmp(row->host, host) == 0 : has_pair(row->of->place, pair, strlen(pair));
}

static bool is_in(const struct ml_rank_finding *f, uint32_t rank)
{
    for (size_t i = 0; i < f->ranks.len; i++)
        if (f->ranks.items[i] == rank)
            return true;
    return false;
}

/* Whether exactly the ranks of the finding are on that host, or have that pair in their place. */
static bool shares(const struct ml_ranks *ranks, const struct ml_rank_finding *f, const char *host,
                   const char *pair)
{
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (has_it(&ranks->rows.items[i], host, pair) != is_in(f, ranks->rows.items[i].rank))
            return false;
    return true;
}

static bool is_coordinate(const char *key, size_t len)
{
    static const char *const others[] = {"rank",     "world_size", "local_rank", "local_world_size",
                                         "launcher", "job"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(others); i++)
        if (strlen(others[i]) == len && memcmp(others[i], key, len) == 0)
            return false;
    return true;
}

static int name_shared(struct ml_ranks *ranks, struct ml_rank_finding *f)
{
    const struct ml_rank_row *first = row_of(ranks, f->ranks.items[0]);
    const char *at, *key, *value;
    size_t key_len, value_len;
    char text[192] = "";

    if (!first || f->ranks.len < 2 || f->ranks.len == ranks->rows.len)
        return 0;
    at = first->of->place;
    if (*first->host && shares(ranks, f, first->host, NULL))
        snprintf(text, sizeof(text), "on host %s", first->host);
    while (!*text && ml_place_next(&at, &key, &key_len, &value, &value_len)) {
        char pair[128];

        snprintf(pair, sizeof(pair), "%.*s=%.*s", (int)key_len, key, (int)value_len, value);
        if (is_coordinate(key, key_len) && shares(ranks, f, NULL, pair))
            snprintf(text, sizeof(text), "with %s", pair);
    }
    f->shared = ml_arena_dup(&ranks->arena, text, strlen(text));
    return f->shared ? 0 : -ENOMEM;
}

static int gravest_first(const void *a, const void *b)
{
    const struct ml_rank_finding *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (!is_about_memory(x->kind) && x->wall_ns != y->wall_ns)
        return x->wall_ns < y->wall_ns ? -1 : 1;
    if (magnitude(x->bytes) != magnitude(y->bytes))
        return magnitude(x->bytes) > magnitude(y->bytes) ? -1 : 1;
    return x->ranks.items[0] < y->ranks.items[0] ? -1 : 1;
}

/* Most of a group: not the ranks are at fault, but the program. */
static void note_everywhere(const struct ml_ranks *ranks, struct ml_rank_finding *f)
{
    if (f->kind == ML_RANK_LEAKS && ranks->rows.len > 1 && 2 * f->ranks.len > ranks->rows.len)
        f->cause = ML_CAUSE_EVERYWHERE;
}

int ml_rank_merge(struct ml_ranks *ranks)
{
    int r = merge(ranks);

    ml_vec_sort(&ranks->findings, gravest_first);
    for (size_t i = 0; r == 0 && i < ranks->findings.len; i++) {
        note_everywhere(ranks, &ranks->findings.items[i]);
        r = name_shared(ranks, &ranks->findings.items[i]);
    }
    return r;
}
