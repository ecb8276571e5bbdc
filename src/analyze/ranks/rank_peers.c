/* rank_peers.c: common numbers of modules, and groups of ranks that should use the same memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "rank_parts.h"

/* ---- Modules ------------------------------------------------------------------ */

static int add_module(struct ml_rank_modules *m, const struct ml_digest_module *module,
                      uint32_t parent)
{
    bool is_new;
    int64_t number = ml_intern_put(&m->paths, module->path, strlen(module->path), &is_new);

    if (number < 0 || (is_new && ml_vec_push(&m->parents, parent) < 0))
        return -ENOMEM;
    return ml_vec_push(&m->of_row, (uint32_t)number);
}

/* A sum over the modules with parameters, in any order. */
static uint64_t signature_of(const struct ml_rank_modules *m, const struct ml_rank_row *row,
                             size_t index)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < row->of->cells.len; i++) {
        const struct ml_digest_cell *cell = &row->of->cells.items[i];
        uint64_t number = ml_rank_module(m, index, cell->module) + 1;

        if (cell->category == MEMLEDGER_PARAMETER)
            sum += number * number * UINT64_C(0x9e3779b97f4a7c15) + (number << 17);
    }
    return sum;
}

static int add_row(struct ml_rank_modules *m, const struct ml_rank_row *row, size_t index)
{
    const struct ml_digest *digest = row->source->digest;

    if (ml_vec_push(&m->first, m->of_row.len) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < digest->modules.len; i++) {
        const struct ml_digest_module *module = &digest->modules.items[i];
        uint32_t parent = i ? m->of_row.items[m->first.items[index] + module->parent] : 0;

        if (add_module(m, module, parent) < 0)
            return -ENOMEM;
    }
    return ml_vec_push(&m->signatures, signature_of(m, row, index));
}

int ml_rank_modules_init(struct ml_rank_modules *m, const struct ml_ranks *ranks)
{
    int r = 0;

    *m = (struct ml_rank_modules){0};
    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++)
        r = add_row(m, &ranks->rows.items[i], i);
    return r;
}

void ml_rank_modules_release(struct ml_rank_modules *m)
{
    ml_intern_release(&m->paths);
    ml_vec_release(&m->parents);
    ml_vec_release(&m->of_row);
    ml_vec_release(&m->first);
    ml_vec_release(&m->signatures);
    for (size_t i = 0; i < m->medians.len; i++)
        free(m->medians.items[i]);
    ml_vec_release(&m->medians);
}

/* ---- Statistics ------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t ml_rank_median(uint64_t *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(*values), by_value);
    return values[(count - 1) / 2];
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* @values  peaks of the group, with room for as many */
static void measure(struct ml_rank_group *group, uint64_t *values)
{
    double allowed;

    group->median_bytes = ml_rank_median(values, group->count);
    group->least_bytes = values[0];
    group->most_bytes = values[group->count - 1];
    for (size_t i = 0; i < group->count; i++)
        values[i] = distance(values[i], group->median_bytes);
    group->deviation_bytes = (uint64_t)(1.4826 * (double)ml_rank_median(values, group->count));
    allowed = fmax(ML_RANK_DEVIATIONS * (double)group->deviation_bytes,
                   ML_RANK_FLOOR_SHARE * (double)group->median_bytes);
    group->allowed_bytes = ml_max_u64((uint64_t)allowed, ML_RANK_FLOOR_BYTES);
}

/* ---- Groups ---------------------------------------------------------------------- */

/* Names that programs use for the dimension whose ranks hold different layers. */
static const char *const pipeline_keys[] = {"pp", "pipe", "pipeline", "stage", "mesh_pipeline"};

static bool pipeline_of(const struct ml_rank_row *row, const char **ret_key, uint64_t *ret)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(pipeline_keys); i++)
        if (ml_place_number(row->of->place, pipeline_keys[i], ret)) {
            *ret_key = pipeline_keys[i];
            return true;
        }
    return false;
}

static const char *name_group(struct ml_ranks *ranks, const struct ml_rank_row *row)
{
    char name[64] = "";
    const char *key;
    uint64_t at;

    if (pipeline_of(row, &key, &at))
        snprintf(name, sizeof(name), "%s=%llu", key, (unsigned long long)at);
    return ml_arena_dup(&ranks->arena, name, strlen(name));
}

static bool is_host(const struct ml_rank_row *row)
{
    return strcmp(row->device, "cpu") == 0;
}

static bool same_stage(const struct ml_rank_row *a, const struct ml_rank_row *b)
{
    const char *key;
    uint64_t x = UINT64_MAX, y = UINT64_MAX;

    pipeline_of(a, &key, &x);
    pipeline_of(b, &key, &y);
    return x == y && is_host(a) == is_host(b);
}

static int find_group(struct ml_ranks *ranks, size_t row)
{
    struct ml_rank_row *rows = ranks->rows.items;
    struct ml_rank_group group = {.first_of_modules = row};

    for (size_t i = 0; i < ranks->groups.len; i++)
        if (same_stage(&rows[row], &rows[ranks->groups.items[i].first_of_modules])) {
            rows[row].group = i;
            return 0;
        }
    rows[row].group = ranks->groups.len;
    group.name = name_group(ranks, &rows[row]);
    return group.name ? ml_vec_push(&ranks->groups, group) : -ENOMEM;
}

/* How many rows of the group have these modules. */
static size_t count_alike(const struct ml_ranks *ranks, const struct ml_rank_modules *m,
                          size_t group, uint64_t signature)
{
    size_t count = 0;

    for (size_t i = 0; i < ranks->rows.len; i++)
        count += ranks->rows.items[i].group == group && m->signatures.items[i] == signature;
    return count;
}

/* Two stages of a pipeline without coordinates, one of which lacks a rank, are nearly halves. */
static bool is_majority(size_t count, size_t members)
{
    return 4 * count >= 3 * members;
}

/* Sets the row whose modules most of the group have. @return whether these are a majority */
static bool find_majority(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group)
{
    size_t best = 0, members = 0;
    uint64_t last = 0;
    bool any = false;

    for (size_t i = 0; i < ranks->rows.len; i++)
        members += ranks->rows.items[i].group == group;
    for (size_t i = 0; i < ranks->rows.len && !is_majority(best, members); i++) {
        size_t alike;

        if (ranks->rows.items[i].group != group || (any && m->signatures.items[i] == last))
            continue;
        any = true;
        last = m->signatures.items[i];
        alike = count_alike(ranks, m, group, last);
        if (alike > best) {
            best = alike;
            ranks->groups.items[group].first_of_modules = i;
        }
    }
    return is_majority(best, members);
}

/* The group from `first` on with the modules of the row; SIZE_MAX: none. */
static size_t group_with_modules(const struct ml_ranks *ranks, const struct ml_rank_modules *m,
                                 size_t first, size_t row)
{
    for (size_t g = first; g < ranks->groups.len; g++)
        if (m->signatures.items[ranks->groups.items[g].first_of_modules] ==
            m->signatures.items[row])
            return g;
    return SIZE_MAX;
}

static int add_group(struct ml_ranks *ranks, size_t row)
{
    struct ml_rank_group group = {.first_of_modules = row};
    char name[64];

    snprintf(name, sizeof(name), "modules of rank %u", (unsigned)ranks->rows.items[row].rank);
    group.name = ml_arena_dup(&ranks->arena, name, strlen(name));
    return group.name ? ml_vec_push(&ranks->groups, group) : -ENOMEM;
}

static bool has_module(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                       uint32_t number)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;

    for (size_t i = 0; i < of->cells.len; i++)
        if (of->cells.items[i].category == MEMLEDGER_PARAMETER &&
            ml_rank_module(m, row, of->cells.items[i].module) == number)
            return true;
    return false;
}

/* How much alike two ranks are in their modules; for one row, comparable between others. */
static int64_t likeness(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                        size_t other)
{
    const struct ml_digest_rank *of = ranks->rows.items[other].of;
    int64_t sum = 0;

    for (size_t i = 0; i < of->cells.len; i++)
        if (of->cells.items[i].category == MEMLEDGER_PARAMETER)
            sum += has_module(ranks, m, row, ml_rank_module(m, other, of->cells.items[i].module))
                       ? 1
                       : -1;
    return sum;
}

/* Moves a rank whose modules no other has to the group, from `first` on, that it resembles most. */
static void move_to_alike(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t first,
                          size_t row)
{
    size_t own = ranks->rows.items[row].group;
    int64_t best = likeness(ranks, m, row, ranks->groups.items[own].first_of_modules);

    for (size_t g = first; g < ranks->groups.len; g++) {
        int64_t alike = likeness(ranks, m, row, ranks->groups.items[g].first_of_modules);

        if (alike > best) {
            best = alike;
            ranks->rows.items[row].group = g;
        }
    }
}

/* Each set of modules that two ranks or more have becomes a group. */
static int split(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group)
{
    struct ml_rank_row *rows = ranks->rows.items;
    size_t first = ranks->groups.len;
    uint64_t kept = m->signatures.items[ranks->groups.items[group].first_of_modules];

    for (size_t i = 0; i < ranks->rows.len; i++) {
        size_t to;

        if (rows[i].group != group || m->signatures.items[i] == kept)
            continue;
        to = group_with_modules(ranks, m, first, i);
        if (to == SIZE_MAX && count_alike(ranks, m, group, m->signatures.items[i]) >= 2) {
            to = ranks->groups.len;
            if (add_group(ranks, i) < 0)
                return -ENOMEM;
        }
        if (to != SIZE_MAX)
            rows[i].group = to;
    }
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (rows[i].group == group && m->signatures.items[i] != kept)
            move_to_alike(ranks, m, first, i);
    return 0;
}

static void measure_group(struct ml_ranks *ranks, size_t group, uint64_t *values)
{
    struct ml_rank_group *g = &ranks->groups.items[group];

    g->count = 0;
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group)
            values[g->count++] = ranks->rows.items[i].peak_bytes;
    if (g->count > 0)
        measure(g, values);
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group)
            ranks->rows.items[i].above_bytes =
                (int64_t)(ranks->rows.items[i].peak_bytes - g->median_bytes);
}

int ml_rank_peers(struct ml_ranks *ranks, const struct ml_rank_modules *m)
{
    uint64_t *values = calloc(ranks->rows.len + 1, sizeof(*values));
    size_t stages;
    int r = values ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++)
        r = find_group(ranks, i);
    stages = ranks->groups.len;
    for (size_t g = 0; r == 0 && g < stages; g++)
        if (!find_majority(ranks, m, g))
            r = split(ranks, m, g);
    for (size_t g = 0; r == 0 && g < ranks->groups.len; g++)
        measure_group(ranks, g, values);
    free(values);
    return r;
}

/* ---- Modules that differ ------------------------------------------------------------ */

/* A shard of a small module may be empty on some ranks. */
#define MODULE_BYTES_LEAST 65536

const char *ml_rank_extra_module(const struct ml_ranks *ranks, const struct ml_rank_modules *m,
                                 size_t row, size_t other)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;

    for (size_t i = 0; i < of->cells.len; i++) {
        uint32_t number = ml_rank_module(m, row, of->cells.items[i].module);

        if (of->cells.items[i].category == MEMLEDGER_PARAMETER &&
            ml_digest_values(of, 0)[i] >= MODULE_BYTES_LEAST &&
            !has_module(ranks, m, other, number))
            return ml_intern_get(&m->paths, number, NULL);
    }
    return NULL;
}
