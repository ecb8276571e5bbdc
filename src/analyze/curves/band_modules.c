/* band_modules.c: see band_modules.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "band_modules.h"

#include <errno.h>
#include <stdlib.h>

#define MODULE_BANDS 10 /* besides "no module" and the rest */
#define NO_BAND UINT8_MAX
#define FEW 4             /* fewer bands than this show too little … */
#define FOLDED_PERCENT 10 /* … and so does a larger share without a band */
#define LARGE_PERCENT 20  /* of the whole: large enough to split if there is room */

/* ---- The cut ----------------------------------------------------------- */

/* A module with all modules below it, or its own bytes alone. */
struct part {
    uint32_t module;
    bool own_only;
    uint64_t bytes;
};

struct cut {
    const struct ml_module_sums *sums;
    ML_VEC(uint64_t) all; /* by module, including those below it */
    ML_VEC(struct part) parts;
};

static int sum_up(struct cut *c)
{
    const struct ml_modules *modules = &c->sums->modules;

    for (size_t i = 0; i < modules->list.len; i++)
        if (ml_vec_push(&c->all, 0) < 0)
            return -ENOMEM;
    for (uint32_t i = 1; i < modules->list.len; i++)
        for (uint32_t m = i; m != ML_NO_MODULE; m = modules->list.items[m].parent)
            c->all.items[m] += c->sums->own.items[i].bytes;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->module < y->module ? -1 : x->module > y->module;
}

static int add_children(struct cut *c, uint32_t parent)
{
    const struct ml_modules *modules = &c->sums->modules;

    for (uint32_t i = 1; i < modules->list.len; i++)
        if (modules->list.items[i].parent == parent && c->all.items[i] > 0 &&
            ml_vec_push(&c->parts, (struct part){i, false, c->all.items[i]}) < 0)
            return -ENOMEM;
    ml_vec_sort(&c->parts, most_first);
    return 0;
}

/* Whether splitting the part's module leaves enough of the whole with a band. */
static bool worth_it(const struct cut *c, size_t part)
{
    const struct ml_modules *modules = &c->sums->modules;
    uint32_t module = c->parts.items[part].module;
    size_t children = 0;
    uint64_t smallest = UINT64_MAX;

    if (c->parts.items[part].own_only)
        return false;
    for (uint32_t i = 1; i < modules->list.len; i++)
        if (modules->list.items[i].parent == module && c->all.items[i] > 0) {
            children++;
            smallest = smallest < c->all.items[i] ? smallest : c->all.items[i];
        }
    if (children == 0)
        return false;
    if (c->parts.len < FEW)
        return true;
    if (c->parts.items[part].bytes * 100 < c->sums->all.bytes * LARGE_PERCENT)
        return false;
    if (c->parts.len + children <= MODULE_BANDS)
        return true;
    return smallest * (c->parts.len + children - MODULE_BANDS) * 100 <=
           c->sums->all.bytes * FOLDED_PERCENT;
}

static int take_apart(struct cut *c, size_t part)
{
    uint32_t module = c->parts.items[part].module;
    uint64_t own = c->sums->own.items[module].bytes;

    c->parts.items[part] =
        own > 0 ? (struct part){module, true, own} : c->parts.items[--c->parts.len];
    return add_children(c, module);
}

static int cut_tree(struct cut *c)
{
    int r = sum_up(c);
    size_t i = 0;

    if (r == 0)
        r = add_children(c, ML_NO_MODULE);
    while (r == 0 && i < c->parts.len) {
        if (c->parts.len <= MODULE_BANDS && worth_it(c, i)) {
            r = take_apart(c, i);
            i = 0;
        } else {
            i++;
        }
    }
    return r;
}

static size_t depth_of(const struct ml_modules *modules, uint32_t module)
{
    size_t depth = 0;

    for (; module != ML_NO_MODULE; module = modules->list.items[module].parent)
        depth++;
    return depth;
}

/* Modules of that depth with all below them, and the own memory of those above. */
static int cut_at_depth(struct cut *c, size_t depth)
{
    const struct ml_modules *modules = &c->sums->modules;
    int r = sum_up(c);

    for (uint32_t i = 1; r == 0 && i < modules->list.len; i++) {
        size_t at = depth_of(modules, i);
        uint64_t bytes = at == depth ? c->all.items[i] : c->sums->own.items[i].bytes;

        if (at <= depth && bytes > 0)
            r = ml_vec_push(&c->parts, ((struct part){i, at < depth, bytes}));
    }
    ml_vec_sort(&c->parts, most_first);
    return r;
}

static int first_called_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return x->module < y->module ? -1 : x->module > y->module;
}

/* ---- Bands of modules -------------------------------------------------- */

/* The band of the module itself, or else of the nearest module around it. */
static uint8_t find_band(const struct ml_band_modules *m, uint32_t module)
{
    const struct ml_module *list = m->sums.modules.list.items;

    for (uint32_t at = module; at != ML_NO_MODULE; at = list[at].parent)
        for (size_t band = 1; band <= m->count; band++)
            if (m->module[band] == at && (!m->own_only[band] || at == module))
                return (uint8_t)band;
    if (module == ML_NO_MODULE)
        return 0;
    return m->has_rest ? ML_BANDS_MAX - 1 : 0;
}

static int make_bands(struct ml_band_modules *m, size_t depth)
{
    struct cut cut = {.sums = &m->sums};
    int r = depth > 0 ? cut_at_depth(&cut, depth) : cut_tree(&cut);

    if (cut.parts.len > MODULE_BANDS)
        cut.parts.len = MODULE_BANDS;
    ml_vec_sort(&cut.parts, first_called_first);
    for (size_t i = 0; r == 0 && i < cut.parts.len; i++) {
        m->count = i + 1;
        m->module[i + 1] = cut.parts.items[i].module;
        m->own_only[i + 1] = cut.parts.items[i].own_only;
    }
    m->has_rest = m->sums.modules.list.len > 1;
    for (uint32_t i = 0; r == 0 && i < m->sums.modules.list.len; i++)
        r = ml_vec_push(&m->band_of, find_band(m, i));
    ml_vec_release(&cut.all);
    ml_vec_release(&cut.parts);
    return r;
}

/* ---- Books ------------------------------------------------------------- */

void ml_band_modules_add(struct ml_band_modules *m, const struct ml_block *block, uint64_t change)
{
    int64_t module = ml_modules_of(&m->sums.modules, block);

    if (module < 0)
        m->error = -ENOMEM;
    else
        m->bytes[m->band_of.items[module]] += change;
}

/* The blocks that are live already. */
static void add_all(struct ml_band_modules *m, const struct ml_replay *replay)
{
    const struct ml_block *block;
    size_t cursor = 0;

    while ((block = ml_replay_next(replay, false, &cursor)))
        ml_band_modules_add(m, block, block->size);
}

/* ---- Interface --------------------------------------------------------- */

int ml_band_modules_init(struct ml_band_modules *m, const struct ml_replay *replay, size_t depth,
                         struct ml_error *err)
{
    const struct ml_snapshot_opts opts = {.at = {.kind = ML_AT_PEAK}, .pid = replay->only_pid};
    int r = ml_module_sums(replay->trace, &opts, &m->peak, &m->sums, err);

    if (r == 0)
        r = make_bands(m, depth);
    if (r == 0)
        add_all(m, replay);
    return r < 0 ? r : m->error;
}

void ml_band_modules_release(struct ml_band_modules *m)
{
    ml_snapshot_release(&m->peak);
    ml_module_sums_release(&m->sums);
    ml_vec_release(&m->band_of);
    *m = (struct ml_band_modules){0};
}

int ml_band_modules_name(const struct ml_band_modules *m, struct ml_bands *ret)
{
    ret->count = ML_BANDS_MAX;
    ret->from_scopes = m->sums.modules.nested;
    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        ret->list[i].name = "";
    ret->list[ML_BANDS_MAX - 1].rest = true;
    for (size_t i = 1; i <= m->count; i++) {
        ret->list[i].name = ml_module_title(&m->sums.modules, m->module[i], &ret->arena);
        if (!ret->list[i].name)
            return -ENOMEM;
    }
    return 0;
}
