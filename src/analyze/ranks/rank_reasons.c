/* rank_reasons.c: why a rank differs from its peers: the category and the module with most of the
 * difference, and what that usually means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "rank_parts.h"

#define IN_ONE_MODULE 0.6 /* of the difference, to name a module */
#define SPREAD_MODULES 3  /* that share a difference, to call it one of all modules */
#define LONGER_INPUT 1.25 /* times the inputs of the peers: these explain the rest */

/* The bytes of modules × categories, then those of each category in all modules, and those to
 * compare them with. The median of a category over the peers is not the sum of the medians of its
 * modules: a block can be in another module on each rank. */
struct composition {
    size_t modules;
    const int64_t *own, *other; /* module × ML_CATEGORIES, ML_CATEGORIES */
};

static int64_t *make_cells(const struct ml_rank_modules *m)
{
    return calloc((ml_intern_len(&m->paths) + 1) * (size_t)ML_CATEGORIES, sizeof(int64_t));
}

static size_t sum_cell(const struct ml_rank_modules *m, uint32_t category)
{
    return ml_intern_len(&m->paths) * (size_t)ML_CATEGORIES + category;
}

static void add_line(const struct ml_rank_modules *m, const struct ml_ranks *ranks, size_t row,
                     size_t line, int64_t *to)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;
    const uint64_t *values = of->cells.len ? ml_digest_values(of, line) : NULL;

    for (size_t i = 0; i < of->cells.len; i++) {
        uint32_t category = of->cells.items[i].category;

        to[ml_rank_module(m, row, of->cells.items[i].module) * ML_CATEGORIES + category] +=
            (int64_t)values[i];
        to[sum_cell(m, category)] += (int64_t)values[i];
    }
}

/* ---- The peers -------------------------------------------------------------------- */

struct value {
    size_t cell;
    uint64_t bytes;
};

static int by_cell(const void *a, const void *b)
{
    const struct value *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* A cell that only some of the peers have is 0 in the others. */
static uint64_t median_of(const struct value *values, size_t have, size_t members)
{
    size_t lower = (members - 1) / 2, absent = members - have;

    return lower < absent ? 0 : values[lower - absent].bytes;
}

typedef ML_VEC(struct value) values;

/* The cells of one rank at its own peak. */
static int collect_rank(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                        values *ret)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;
    uint64_t sums[ML_CATEGORIES] = {0};

    for (size_t i = 0; i < of->cells.len; i++) {
        uint32_t category = of->cells.items[i].category;
        struct value value = {ml_rank_module(m, row, of->cells.items[i].module) * ML_CATEGORIES +
                                  category,
                              ml_digest_values(of, 0)[i]};

        sums[category] += value.bytes;
        if (value.bytes > 0 && ml_vec_push(ret, value) < 0)
            return -ENOMEM;
    }
    for (uint32_t category = 0; category < ML_CATEGORIES; category++) {
        struct value sum = {sum_cell(m, category), sums[category]};

        if (sum.bytes > 0 && ml_vec_push(ret, sum) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int collect(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group,
                   values *ret, size_t *ret_members)
{
    int r = 0;

    for (size_t row = 0; r == 0 && row < ranks->rows.len; row++) {
        if (ranks->rows.items[row].group != group)
            continue;
        ++*ret_members;
        r = collect_rank(ranks, m, row, ret);
    }
    return r;
}

/* The median of each cell over the group, each rank at its own peak. */
static int add_peers(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t group,
                     int64_t *to)
{
    values all = {0};
    size_t members = 0;
    int r = collect(ranks, m, group, &all, &members);

    ml_vec_sort(&all, by_cell);
    for (size_t i = 0, next; r == 0 && i < all.len; i = next) {
        for (next = i + 1; next < all.len && all.items[next].cell == all.items[i].cell; next++)
            ;
        to[all.items[i].cell] = (int64_t)median_of(&all.items[i], next - i, members);
    }
    ml_vec_release(&all);
    return r;
}

/* The same, found once for all ranks of the group. NULL: out of memory. */
static const int64_t *medians_of(const struct ml_ranks *ranks, struct ml_rank_modules *m,
                                 size_t group)
{
    while (m->medians.len <= group)
        if (ml_vec_push(&m->medians, NULL) < 0)
            return NULL;
    if (!m->medians.items[group]) {
        int64_t *cells = make_cells(m);

        if (!cells || add_peers(ranks, m, group, cells) < 0) {
            free(cells);
            return NULL;
        }
        m->medians.items[group] = cells;
    }
    return m->medians.items[group];
}

/* ---- What differs ------------------------------------------------------------------- */

static int64_t sum_of(const struct composition *c, const int64_t *bytes, uint32_t category)
{
    return bytes[c->modules * ML_CATEGORIES + category];
}

/* The category with most of the difference in its direction. */
static uint32_t find_category(const struct composition *c, bool more, int64_t *ret_bytes)
{
    uint32_t best = 0;

    *ret_bytes = 0;
    for (uint32_t category = 0; category < ML_CATEGORIES; category++) {
        int64_t difference = sum_of(c, c->own, category) - sum_of(c, c->other, category);

        if (more ? difference > *ret_bytes : difference < *ret_bytes) {
            *ret_bytes = difference;
            best = category;
        }
    }
    return best;
}

static bool is_below(const struct ml_rank_modules *m, uint32_t module, uint32_t around)
{
    while (module && module != around)
        module = m->parents.items[module];
    return module == around;
}

/* The difference in a module and in those below it. */
static int64_t difference_in(const struct composition *c, const struct ml_rank_modules *m,
                             uint32_t module, uint32_t category)
{
    int64_t sum = 0;

    for (uint32_t i = 1; i < c->modules; i++)
        if (is_below(m, i, module))
            sum += c->own[i * ML_CATEGORIES + category] - c->other[i * ML_CATEGORIES + category];
    return sum;
}

/* Down the tree as long as one module has most of the difference; 0: not even an outermost one. */
static uint32_t find_module(const struct composition *c, const struct ml_rank_modules *m,
                            uint32_t category, int64_t bytes)
{
    uint32_t at = 0;

    for (bool deeper = true; deeper;) {
        deeper = false;
        for (uint32_t i = 1; i < c->modules && !deeper; i++)
            if (i != at && m->parents.items[i] == at &&
                (double)difference_in(c, m, i, category) / (double)bytes >= IN_ONE_MODULE) {
                at = i;
                deeper = true;
            }
    }
    return at;
}

/* How many modules have a part of the difference that is worth mentioning. */
static size_t count_modules(const struct composition *c, uint32_t category, int64_t bytes)
{
    size_t count = 0;

    for (size_t i = 1; i < c->modules; i++)
        count += (double)(c->own[i * ML_CATEGORIES + category] -
                          c->other[i * ML_CATEGORIES + category]) /
                     (double)bytes >
                 0.02;
    return count;
}

static bool is_state(uint32_t category)
{
    return category == MEMLEDGER_PARAMETER || category == MEMLEDGER_GRADIENT ||
           category == MEMLEDGER_OPTIMIZER_STATE;
}

static bool follows_input(uint32_t category)
{
    return category == MEMLEDGER_ACTIVATION || category == MEMLEDGER_INTERMEDIATE_GRADIENT ||
           category == MEMLEDGER_INPUT || category == MEMLEDGER_TEMPORARY ||
           category == MEMLEDGER_KV_CACHE;
}

/* Small models have too few modules to tell by their number. */
static bool has_other_input(const struct ml_rank_finding *f)
{
    if (f->category == MEMLEDGER_INPUT || f->input_ratio <= 0)
        return false;
    return f->bytes > 0 ? f->input_ratio >= LONGER_INPUT : f->input_ratio <= 1 / LONGER_INPUT;
}

static enum ml_rank_cause cause_of(const struct ml_rank_finding *f, size_t modules)
{
    if (f->kind == ML_RANK_LEAKS)
        return ML_CAUSE_UNKNOWN;
    if (f->category == MEMLEDGER_GATHERED)
        return ML_CAUSE_GATHERED;
    if (is_state(f->category) && (f->ratio >= 1.5 || (f->ratio > 0 && f->ratio <= 0.67)))
        return ML_CAUSE_UNSHARDED;
    if (follows_input(f->category))
        return modules >= SPREAD_MODULES || has_other_input(f) ? ML_CAUSE_LONGER
                                                               : ML_CAUSE_INPUT_THERE;
    return ML_CAUSE_UNKNOWN;
}

static double ratio_of(int64_t own, int64_t other)
{
    return other > 0 ? (double)own / (double)other : 0;
}

static void explain(const struct composition *c, const struct ml_rank_modules *m,
                    struct ml_rank_finding *f)
{
    uint32_t module;
    size_t modules;

    f->module = "";
    f->category = find_category(c, f->bytes > 0, &f->part_bytes);
    f->has_category = f->part_bytes != 0;
    if (!f->has_category)
        return;
    module = find_module(c, m, f->category, f->part_bytes);
    f->module = ml_intern_get(&m->paths, module, NULL);
    f->ratio = ratio_of(sum_of(c, c->own, f->category), sum_of(c, c->other, f->category));
    f->input_ratio =
        ratio_of(sum_of(c, c->own, MEMLEDGER_INPUT), sum_of(c, c->other, MEMLEDGER_INPUT));
    modules = count_modules(c, f->category, f->part_bytes);
    f->in_several = modules > 1;
    f->cause = cause_of(f, modules);
}

/* In how many rows of steps its peak is above that of its peers by half of the difference. */
static void count_steps(const struct ml_ranks *ranks, size_t row, struct ml_rank_finding *f)
{
    const struct ml_digest_rank *of = ranks->rows.items[row].of;
    const struct ml_rank_group *g = &ranks->groups.items[ranks->rows.items[row].group];

    f->steps_compared = of->rows.len;
    for (size_t i = 0; i < of->rows.len; i++)
        f->steps_above += f->bytes > 0 &&
                          (int64_t)(of->rows.items[i].peak_bytes - g->median_bytes) > f->bytes / 2;
}

/* A rank that leaks is compared with itself, some steps after its start. */
static int explain_growth(const struct ml_ranks *ranks, const struct ml_rank_modules *m, size_t row,
                          struct ml_rank_finding *f)
{
    size_t rows = ranks->rows.items[row].of->rows.len;
    int64_t *last = make_cells(m), *early = make_cells(m);
    int r = last && early ? 0 : -ENOMEM;

    if (r == 0) {
        const struct composition c = {ml_intern_len(&m->paths), last, early};

        add_line(m, ranks, row, rows, last);
        add_line(m, ranks, row, rows > 3 ? 3 : 1, early);
        explain(&c, m, f);
    }
    free(last);
    free(early);
    return r;
}

static int explain_distance(const struct ml_ranks *ranks, struct ml_rank_modules *m, size_t row,
                            struct ml_rank_finding *f)
{
    const int64_t *peers = medians_of(ranks, m, ranks->rows.items[row].group);
    int64_t *own = make_cells(m);
    int r = peers && own ? 0 : -ENOMEM;

    if (r == 0) {
        const struct composition c = {ml_intern_len(&m->paths), own, peers};

        add_line(m, ranks, row, 0, own);
        count_steps(ranks, row, f);
        explain(&c, m, f);
    }
    free(own);
    return r;
}

int ml_rank_reason(const struct ml_ranks *ranks, struct ml_rank_modules *m, size_t row,
                   struct ml_rank_finding *finding)
{
    return finding->kind == ML_RANK_LEAKS ? explain_growth(ranks, m, row, finding)
                                          : explain_distance(ranks, m, row, finding);
}
