/* recreated_modules.c: see recreated_modules.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recreated_modules.h"

#include <errno.h>

#include "each_event.h"
#include "map.h"

#define ALIKE_ENOUGH 3 /* two could be any two models */

struct finder {
    const struct ml_modules *modules;
    struct ml_recreated_modules *ret;
    ML_VEC(uint32_t) members; /* at the first of similar modules: their number, else 0 */
    struct ml_map latest;     /* first one and process -> the latest that was called */
    bool any;                 /* some module has enough similar ones */
};

static int count_members(struct finder *f)
{
    const struct ml_modules *m = f->modules;

    for (uint32_t i = 0; i < m->list.len; i++) {
        int64_t first = ml_modules_first_alike(m, i);

        if (first < 0 || ml_vec_push(&f->ret->first, (uint32_t)first) < 0 ||
            ml_vec_push(&f->members, 0) < 0)
            return -ENOMEM;
    }
    for (size_t i = 0; i < m->roots.len && f->members.items; i++)
        f->any |= ++f->members.items[f->ret->first.items[m->roots.items[i]]] >= ALIKE_ENOUGH;
    return 0;
}

/* Modules are numbered in the order of their first calls. */
static int on_call(struct finder *f, const struct ml_event *event)
{
    const struct ml_modules *m = f->modules;
    uint32_t module = event->scope < m->of_scope.len ? m->of_scope.items[event->scope] : 0;
    uint32_t root = m->list.items[module].root, first = f->ret->first.items[root];
    uint64_t latest = 0, key;

    if (module == ML_NO_MODULE || f->members.items[first] < ALIKE_ENOUGH)
        return 0;
    key = (uint64_t)first << 32 | ml_trace_thread(m->trace, event->thread)->process;
    ml_map_get(&f->latest, key, &latest);
    if (root < latest)
        f->members.items[first] = 0; /* they are in use at the same time */
    return root > latest ? ml_map_put(&f->latest, key, root) : 0;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    return event->kind == ML_PUSH ? on_call(ctx, event) : 0;
}

/* Read errors are reported when the trace is read for the report itself. */
static int read_calls(struct finder *f)
{
    struct ml_error err = {0};
    int r = ml_each_event(f->modules->trace, on_event, f, &err);

    return r == -ENOMEM ? r : 0;
}

/* An outermost module comes before those it contains. */
static void part_others(struct finder *f)
{
    uint32_t *first = f->ret->first.items;

    for (uint32_t i = 0; i < f->ret->first.len; i++)
        if (f->members.items[first[f->modules->list.items[i].root]] < ALIKE_ENOUGH)
            first[i] = i;
}

int ml_recreated_modules_find(const struct ml_modules *modules, struct ml_recreated_modules *ret)
{
    struct finder f = {.modules = modules, .ret = ret};
    int r;

    *ret = (struct ml_recreated_modules){0};
    r = count_members(&f);
    if (r == 0 && f.any)
        r = read_calls(&f);
    if (r == 0 && f.any)
        part_others(&f);
    if (r < 0 || !f.any)
        ml_recreated_modules_release(ret);
    ml_vec_release(&f.members);
    ml_map_release(&f.latest);
    return r;
}

void ml_recreated_modules_release(struct ml_recreated_modules *alike)
{
    ml_vec_release(&alike->first);
}
