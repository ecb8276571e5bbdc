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

#define DEVIATION 1.4826 /* a standard deviation, to the median of distances */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void set_allowed(struct ml_rank_group *group)
{
    double allowed = fmax(ML_RANK_DEVIATIONS * (double)group->deviation_bytes,
                          ML_RANK_FLOOR_SHARE * (double)group->median_bytes);

    group->allowed_bytes = ml_max_u64((uint64_t)allowed, ML_RANK_FLOOR_BYTES);
}

/* @values  peaks of the group, with room for as many */
static void measure(struct ml_rank_group *group, uint64_t *values)
{
    group->median_bytes = ml_rank_median(values, group->count);
    group->least_bytes = values[0];
    group->most_bytes = values[group->count - 1];
    for (size_t i = 0; i < group->count; i++)
        values[i] = distance(values[i], group->median_bytes);
    group->deviation_bytes = (uint64_t)(DEVIATION * (double)ml_rank_median(values, group->count));
    set_allowed(group);
}

/* ---- Groups ---------------------------------------------------------------------- */

#define LIKENESS_LEAST 0.5 /* of the modules of two ranks that are compared */
#define POOLED_LEAST 16    /* ranks whose distances say how far they vary */

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

/* Modules with parameters of a row, for comparisons with other rows. */
struct module_marks {
    uint32_t *marks; /* by number: 1 + the last row that was marked with it */
    size_t count;    /* of that row */
};

static void mark_modules(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                         struct module_marks *to)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;

    to->count = 0;
    for (size_t i = 0; i < of->cells.len; i++)
        if (of->cells.items[i].category == MEMLEDGER_PARAMETER) {
            to->marks[ml_rank_module(m, row, of->cells.items[i].module)] = (uint32_t)row + 1;
            to->count++;
        }
}

/* The share of modules that a marked row and another one have in common. */
static double likeness(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                       const struct module_marks *marked, size_t other)
{
    const struct ml_digest_rank *of = ranks->rows.items[other].of;
    size_t common = 0, count = 0;

    for (size_t i = 0; i < of->cells.len; i++)
        if (of->cells.items[i].category == MEMLEDGER_PARAMETER) {
            common += marked->marks[ml_rank_module(m, other, of->cells.items[i].module)] == row + 1;
            count++;
        }
    return (double)common / (double)ml_max_u64(ml_max_u64(count, marked->count), 1);
}

/* Moves a rank whose modules no other has to the group, from `first` on, that it resembles most. If
 * it resembles none, it is a stage of its own. */
static int move_to_alike(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t first,
                         size_t row, struct module_marks *marks)
{
    size_t own = ranks->rows.items[row].group;
    double best;

    mark_modules(ranks, m, row, marks);
    best = likeness(ranks, m, row, marks, ranks->groups.items[own].first_of_modules);
    for (size_t g = first; g < ranks->groups.len; g++) {
        double alike = likeness(ranks, m, row, marks, ranks->groups.items[g].first_of_modules);

        if (alike > best) {
            best = alike;
            ranks->rows.items[row].group = g;
        }
    }
    if (best >= LIKENESS_LEAST)
        return 0;
    ranks->rows.items[row].group = ranks->groups.len;
    return add_group(ranks, row);
}

static int move_unique(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group,
                       size_t first)
{
    uint64_t kept = m->signatures.items[ranks->groups.items[group].first_of_modules];
    struct module_marks marks = {calloc(ml_intern_len(&m->paths) + 1, sizeof(*marks.marks)), 0};
    int r = marks.marks ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group && m->signatures.items[i] != kept)
            r = move_to_alike(ranks, m, first, i, &marks);
    free(marks.marks);
    return r;
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
    return move_unique(ranks, m, group, first);
}

/* Experts that are spread over ranks, each with modules of its own, are no fault. */
static void find_mixed(struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group)
{
    struct ml_rank_group *g = &ranks->groups.items[group];

    g->mixed = !is_majority(count_alike(ranks, m, group, m->signatures.items[g->first_of_modules]),
                            g->count);
}

/* Estimates of the same memory differ. */
static void allow_errors(struct ml_ranks *ranks, size_t group)
{
    struct ml_rank_group *g = &ranks->groups.items[group];

    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group)
            g->deviation_bytes = ml_max_u64(g->deviation_bytes, ranks->rows.items[i].error_bytes);
    set_allowed(g);
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
    allow_errors(ranks, group);
    for (size_t i = 0; i < ranks->rows.len; i++)
        if (ranks->rows.items[i].group == group)
            ranks->rows.items[i].above_bytes =
                (int64_t)(ranks->rows.items[i].peak_bytes - g->median_bytes);
}

/* The median distance of all ranks from the median of their group, in millionths of it. The one in
 * the middle of each group has none, and does not count. */
static double common_distance(const struct ml_ranks *ranks, uint64_t *values)
{
    size_t count = 0, groups = 0;

    for (size_t i = 0; i < ranks->rows.len; i++) {
        const struct ml_rank_group *g = &ranks->groups.items[ranks->rows.items[i].group];

        if (g->count >= 3 && g->median_bytes > 0)
            values[count++] = (uint64_t)(1e6 * fabs((double)ranks->rows.items[i].above_bytes) /
                                         (double)g->median_bytes);
    }
    for (size_t g = 0; g < ranks->groups.len; g++)
        groups += ranks->groups.items[g].count >= 3 && ranks->groups.items[g].median_bytes > 0;
    if (groups < 2 || count - groups < POOLED_LEAST)
        return 0;
    ml_rank_median(values, count);
    return (double)ml_rank_median(values + groups, count - groups);
}

/* Few ranks tell little about how far they vary: all ranks of the job together tell more. */
static void widen_small_groups(struct ml_ranks *ranks, uint64_t *values)
{
    double common = DEVIATION * common_distance(ranks, values) / 1e6;

    for (size_t i = 0; i < ranks->groups.len; i++) {
        struct ml_rank_group *g = &ranks->groups.items[i];

        if (g->count < POOLED_LEAST) {
            g->deviation_bytes =
                ml_max_u64(g->deviation_bytes, (uint64_t)(common * (double)g->median_bytes));
            set_allowed(g);
        }
    }
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
    for (size_t g = 0; r == 0 && g < ranks->groups.len; g++)
        find_mixed(ranks, m, g);
    if (r == 0)
        widen_small_groups(ranks, values);
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
