/* summary_parts.c: the composition of a summary's peak: categories, scopes and labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_names.h"
#include "scope_facts.h"
#include "scope_path.h"
#include "summary_tables.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- Categories -------------------------------------------------------- */

static int by_category_bytes(const void *a, const void *b)
{
    const struct ml_summary_category *x = a, *y = b;

    if (x->at_peak_bytes != y->at_peak_bytes)
        return x->at_peak_bytes < y->at_peak_bytes ? 1 : -1;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    return (int)x->category - (int)y->category;
}

static int add_category(uint8_t category, const struct ml_replay *at_end,
                        const struct ml_composition *peak, const struct ml_composition *end,
                        struct ml_summary *ret)
{
    const struct ml_replay_category *all = &at_end->categories[category];
    const struct ml_compose_key key = {.category = category};
    const struct ml_composed *group = ml_composition_find(peak, key);
    const struct ml_composed *left = ml_composition_find(end, key);
    struct ml_summary_category c = {
        .category = category,
        .name = ml_category_name(category),
        .peak_bytes = all->bytes.peak_bytes,
        .peak_time_ns = all->bytes.peak_time_ns,
        .live_bytes = left ? left->bytes : 0,
        .left_bytes = left ? left->left_bytes : 0,
        .allocations = all->allocations,
        .frees = all->frees,
    };

    if (c.allocations == 0 && c.peak_bytes == 0)
        return 0;
    if (group) {
        c.at_peak_bytes = group->bytes;
        c.at_peak_blocks = group->blocks;
        c.at_peak_percent = percent(group->bytes, peak->bytes);
    }
    return ml_vec_push(&ret->categories, c);
}

int ml_summary_categories(const struct ml_replay *at_peak, const struct ml_replay *at_end,
                          const struct ml_summary_end *end, struct ml_summary *ret)
{
    struct ml_composition peak;
    int r = ml_compose(at_peak, ML_BY_CATEGORY, false, &peak);

    for (uint8_t category = 0; r == 0 && category < ML_CATEGORIES; category++)
        r = add_category(category, at_end, &peak, &end->categories, ret);
    ml_composition_release(&peak);
    ml_vec_sort(&ret->categories, by_category_bytes);
    return r;
}

/* ---- Scopes and labels ------------------------------------------------- */

static int copy_name(const char *name, struct ml_arena *arena, const char **ret)
{
    *ret = name ? ml_arena_dup(arena, name, strlen(name)) : NULL;
    return name && !*ret ? -ENOMEM : 0;
}

/* The summary may outlive its trace. */
static int copy_names(const struct ml_trace *trace, uint32_t scope, struct ml_arena *arena,
                      struct ml_summary_entry *e)
{
    struct ml_scope_names names = ml_scope_names_of(trace, scope);
    int r = copy_name(names.module, arena, &e->module);

    if (r == 0)
        r = copy_name(names.class_name, arena, &e->class_name);
    return r < 0 ? r : copy_name(names.phase, arena, &e->phase);
}

static int fill_entry(const struct ml_trace *trace, const struct ml_composed *group, bool label,
                      struct ml_arena *arena, struct ml_summary_entry *e)
{
    uint32_t len, scope = group->key.scope;
    const char *name;

    e->scope = ml_scope_path_dup(trace, scope, arena);
    if (!e->scope || copy_names(trace, scope, arena, e) < 0)
        return -ENOMEM;
    if (!label)
        return 0;
    name = ml_trace_string(trace, group->key.label, &len);
    e->label = ml_arena_dup(arena, name, len);
    e->category = ml_category_name((uint8_t)group->key.category);
    return e->label ? 0 : -ENOMEM;
}

int ml_summary_end(const struct ml_replay *at_end, struct ml_summary_end *ret)
{
    int r = ml_compose(at_end, ML_BY_CATEGORY, true, &ret->categories);

    if (r == 0)
        r = ml_compose(at_end, ML_BY_SCOPE, true, &ret->scopes);
    return r < 0 ? r : ml_compose(at_end, ML_BY_LABEL, true, &ret->labels);
}

void ml_summary_end_release(struct ml_summary_end *end)
{
    ml_composition_release(&end->categories);
    ml_composition_release(&end->scopes);
    ml_composition_release(&end->labels);
}

static int add_entries(const struct ml_replay *at_peak, const struct ml_composition *end,
                       enum ml_group_by by, size_t top, struct ml_arena *arena,
                       struct ml_summary_entries *ret)
{
    struct ml_composition peak = {0};
    int r = ml_compose(at_peak, by, false, &peak);

    ret->total = peak.groups.len;
    for (size_t i = 0; r == 0 && i < peak.groups.len && i < top; i++) {
        const struct ml_composed *group = &peak.groups.items[i];
        const struct ml_composed *left = ml_composition_find(end, group->key);
        struct ml_summary_entry e = {
            .at_peak_bytes = group->bytes,
            .at_peak_blocks = group->blocks,
            .at_peak_percent = percent(group->bytes, at_peak->bytes.live_bytes),
            .live_bytes = left ? left->bytes : 0,
            .left_bytes = left ? left->left_bytes : 0,
        };

        r = fill_entry(at_peak->trace, group, by == ML_BY_LABEL, arena, &e);
        if (r == 0)
            r = ml_vec_push(&ret->list, e);
    }
    ml_composition_release(&peak);
    return r;
}

int ml_summary_scopes(const struct ml_replay *at_peak, const struct ml_summary_end *end, size_t top,
                      struct ml_summary *ret)
{
    return add_entries(at_peak, &end->scopes, ML_BY_SCOPE, top, &ret->arena, &ret->scopes);
}

int ml_summary_labels(const struct ml_replay *at_peak, const struct ml_summary_end *end, size_t top,
                      struct ml_summary *ret)
{
    return add_entries(at_peak, &end->labels, ML_BY_LABEL, top, &ret->arena, &ret->labels);
}

/* ---- Names ------------------------------------------------------------- */

/* Whether the block has a label, or was allocated in a module or an optimizer. */
static bool has_name(const struct ml_scope_facts *facts, const struct ml_block *block)
{
    struct ml_scope_fact fact = ml_scope_fact_of(facts, block->scope);

    return block->label != 0 || fact.module != 0 || fact.phase == ML_PHASE_OPTIMIZER;
}

/* The summary's entry of a device of the replay; NULL: it had no memory. */
static struct ml_summary_device *device_at(const struct ml_replay *replay, uint32_t index,
                                           struct ml_summary *ret)
{
    const char *name = ml_intern_get(&replay->device_names, index, NULL);

    for (size_t i = 0; i < ret->devices.len; i++)
        if (!strcmp(ret->devices.items[i].name, name))
            return &ret->devices.items[i];
    return NULL;
}

/* How much of the blocks of one device has a name. */
static void name_device(const struct ml_replay *at_peak, uint32_t index, uint64_t named_bytes,
                        struct ml_summary *ret)
{
    struct ml_summary_device *d = device_at(at_peak, index, ret);

    ret->named_bytes_at_peak += named_bytes;
    if (!d)
        return;
    d->at_peak_bytes = at_peak->devices.items[index].bytes.live_bytes;
    d->named_bytes_at_peak = named_bytes;
    d->named_percent_at_peak = percent(named_bytes, d->at_peak_bytes);
}

static int name_blocks(const struct ml_replay *at_peak, const struct ml_scope_facts *facts,
                       struct ml_summary *ret)
{
    uint64_t *named = calloc(at_peak->devices.len + 1, sizeof(*named));
    const struct ml_block *block;
    size_t cursor = 0;

    if (!named)
        return -ENOMEM;
    while (facts->has_modules && (block = ml_replay_next(at_peak, false, &cursor)))
        if (has_name(facts, block))
            named[at_peak->spaces.items[block->space].device] += block->size;
    for (uint32_t i = 0; i < at_peak->devices.len; i++)
        name_device(at_peak, i, named[i], ret);
    free(named);
    return 0;
}

int ml_summary_named(const struct ml_replay *at_peak, const struct ml_classes *classes,
                     struct ml_summary *ret)
{
    struct ml_scope_facts facts;
    int r = ml_scope_facts_init(at_peak->trace, &facts);

    if (r == 0)
        r = name_blocks(at_peak, &facts, ret);
    ret->has_modules = r == 0 && facts.has_modules;
    ret->named_percent_at_peak = percent(ret->named_bytes_at_peak, at_peak->bytes.live_bytes);
    if (ret->has_modules && !at_peak->only_device && !at_peak->only_pid) {
        ret->backward_allocated_bytes = classes->backward_bytes;
        ret->backward_named_bytes = classes->backward_named_bytes;
        ret->backward_named_percent =
            percent(classes->backward_named_bytes, classes->backward_bytes);
    }
    ml_scope_facts_release(&facts);
    return r;
}
