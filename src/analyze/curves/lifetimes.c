/* lifetimes.c: see lifetimes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lifetimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking_frame.h"
#include "allocations.h"
#include "block_choice.h"
#include "block_columns.h"
#include "breakdown_keys.h"
#include "samples.h"
#include "modules.h"
#include "near_blocks.h"
#include "stack_owner.h"

#define OWNER_ROOM 128

struct search {
    const struct ml_trace *trace;
    const struct ml_lifetimes_opts *opts;
    struct ml_lifetimes *found;
    struct ml_heaviest heaviest;
    struct ml_neighbours near;
    struct ml_block_columns rest;
};

/* ---- Choosing blocks ----------------------------------------------------- */

/* The memory of a process ends with it, as in all sums of live memory. */
static uint64_t end_of(const struct ml_lifetimes *of, const struct ml_allocation *a)
{
    /* A damaged file may be out of order. */
    return ml_max_u64(ml_min_u64(a->gone_ns, of->duration_ns), a->time_ns);
}

/* The end of a run is the last moment of a process; its blocks are still live then. */
static bool is_gone(const struct ml_allocation *a, uint64_t time_ns)
{
    return a->ended ? a->end_ns <= time_ns : a->gone_ns < time_ns;
}

static bool is_live(const struct search *s, const struct ml_allocation *a)
{
    if (s->opts->one_moment)
        return a->time_ns <= s->found->from_ns && !is_gone(a, s->found->from_ns);
    return a->time_ns <= s->found->to_ns && end_of(s->found, a) >= s->found->from_ns;
}

static bool is_on(const struct ml_trace *trace, const struct ml_allocation *a, const char *device)
{
    return !device ||
           ml_device_is(ml_trace_string(trace, ml_trace_space(trace, a->space)->device, NULL),
                        device);
}

static bool is_of(const struct ml_trace *trace, const struct ml_allocation *a, uint32_t pid)
{
    return pid == 0 ||
           ml_trace_process(trace, ml_trace_thread(trace, a->thread)->process)->pid == pid;
}

static bool is_wanted(const struct search *s, const struct ml_allocation *a)
{
    return a->counted && a->size >= s->opts->min_bytes && is_live(s, a) &&
           is_on(s->trace, a, s->opts->device) && is_of(s->trace, a, s->opts->pid);
}

/* The area in the picture, or the size. */
static double weight_of(const struct search *s, const struct ml_allocation *a)
{
    uint64_t from = ml_max_u64(a->time_ns, s->found->from_ns), to = end_of(s->found, a);

    if (s->opts->columns == 0)
        return (double)a->size;
    to = to < s->found->to_ns ? to : s->found->to_ns;
    return (double)a->size * ((double)(to - from) + s->rest.column_ns);
}

static void leave_out(struct search *s, const struct ml_allocation *a)
{
    s->found->rest_blocks++;
    s->found->rest_bytes += a->size;
    if (s->opts->columns)
        ml_block_columns_add(&s->rest, a->size, a->time_ns, end_of(s->found, a));
}

static int consider(struct search *s, const struct ml_allocation *a)
{
    uint64_t last_ns = ml_max_u64(ml_min_u64(end_of(s->found, a), s->found->to_ns), a->time_ns);
    struct ml_candidate dropped,
        one = {.allocation = *a, .weight = weight_of(s, a), .life_ns = last_ns - a->time_ns};
    int r = 0;

    s->found->blocks++;
    s->found->bytes += a->size;
    if (s->opts->near)
        r = ml_neighbours_offer(&s->near, s->trace, &one);
    else
        r = ml_heaviest_offer(&s->heaviest, &one, &dropped);
    if (r == 1)
        leave_out(s, &dropped.allocation);
    return r < 0 ? r : 0;
}

static int choose_all(struct search *s, struct ml_error *err)
{
    const struct ml_allocation *batch;
    struct ml_allocations *all = NULL;
    int n = 0, r = ml_allocations_open(s->trace, &all, err);

    while (r == 0 && (n = ml_allocations_next(all, &batch, err)) > 0)
        for (int i = 0; r == 0 && i < n; i++)
            if (is_wanted(s, &batch[i]))
                r = consider(s, &batch[i]);
    if (r == 0 && n == 0)
        s->found->health = ml_allocations_health(all);
    ml_allocations_free(all);
    return r < 0 ? r : n;
}

/* ---- From checkpoints ------------------------------------------------------ */

static int consider_near(void *ctx, const struct ml_allocation *a)
{
    struct search *s = ctx;

    return is_wanted(s, a) ? consider(s, a) : 0;
}

typedef ML_VEC(struct ml_allocation *) allocation_list;

static int list_chosen(struct search *s, allocation_list *ret)
{
    struct ml_neighbourhood *found = ml_neighbours_found(&s->near);
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->heaviest.list.len; i++)
        r = ml_vec_push(ret, &s->heaviest.list.items[i].allocation);
    if (r == 0 && found && found->has_below)
        r = ml_vec_push(ret, &found->below.allocation);
    if (r == 0 && found)
        r = ml_vec_push(ret, &found->at.allocation);
    if (r == 0 && found && found->has_above)
        r = ml_vec_push(ret, &found->above.allocation);
    return r;
}

/* A picture shows nothing of what lies outside its window. */
static int complete(struct search *s, const struct ml_near_blocks *near, struct ml_error *err)
{
    allocation_list list = {0};
    int r = s->opts->columns ? 0 : list_chosen(s, &list);

    if (r == 0)
        r = ml_near_blocks_complete(near, list.items, list.len, err);
    ml_vec_release(&list);
    return r;
}

static bool may_choose_near(const struct search *s)
{
    const struct ml_lifetimes_opts *opts = s->opts;

    return ml_trace_checkpoints(s->trace) &&
           (s->found->from_ns > 0 || s->found->to_ns < s->found->duration_ns) &&
           (opts->columns || opts->near || opts->top <= ML_NEAR_COMPLETE_MAX);
}

/* @return 0, -ENOENT if the whole trace must be read, or another negative errno */
static int choose_near(struct search *s, struct ml_error *err)
{
    struct ml_near_blocks near = {0};
    int r = may_choose_near(s)
                ? ml_near_blocks_open(&near, s->trace, s->found->from_ns, s->found->to_ns, err)
                : -ENOENT;

    if (r == 0)
        r = ml_near_blocks_each(&near, consider_near, s, err);
    if (r == 0)
        r = complete(s, &near, err);
    s->found->health = near.health;
    ml_near_blocks_release(&near);
    return r;
}

/* ---- Describing them ----------------------------------------------------- */

static const char *copy_string(const struct ml_trace *trace, uint32_t string,
                               struct ml_arena *arena)
{
    uint32_t len;
    const char *text = ml_trace_string(trace, string, &len);

    return ml_arena_dup(arena, text, len);
}

static int describe(const struct search *s, struct ml_modules *modules,
                    const struct ml_candidate *chosen)
{
    const struct ml_allocation *a = &chosen->allocation;
    const struct ml_block block = {.scope = a->scope, .label = a->label, .category = a->category};
    bool outlives = s->opts->columns && end_of(s->found, a) > s->found->to_ns;
    struct ml_arena *arena = &s->found->arena;
    int64_t module = ml_modules_of(modules, &block);
    char room[OWNER_ROOM];
    const char *owner = ml_stack_owner(s->trace, a->stack, room, sizeof(room));
    struct ml_lifetime one = {
        .addr = a->addr,
        .bytes = a->size,
        .requested_bytes = a->requested,
        .begin_ns = a->time_ns,
        .end_ns = outlives ? s->found->to_ns : end_of(s->found, a),
        .stream = a->stream,
        .space = a->space,
        .thread = a->thread,
        .scope = a->scope,
        .stack = a->stack,
        .phase = a->phase,
        .category = a->category,
        .ended = a->ended && !outlives,
        .has_stream = a->has_stream,
    };

    if (module < 0)
        return -ENOMEM;
    one.label = a->label ? copy_string(s->trace, a->label, arena) : "";
    one.module = ml_module_title(modules, (uint32_t)module, arena);
    one.line = ml_line_text(s->trace, (uint32_t)ml_own_line(s->trace, a->stack), arena);
    one.function =
        ml_function_text(s->trace, (uint32_t)ml_asking_function(s->trace, a->stack), arena);
    one.owner = ml_arena_dup(arena, owner, strlen(owner));
    one.device = copy_string(s->trace, ml_trace_space(s->trace, a->space)->device, arena);
    if (!one.label || !one.module || !one.line || !one.function || !one.owner || !one.device)
        return -ENOMEM;
    return ml_vec_push(&s->found->list, one);
}

static int earliest_first(const void *a, const void *b)
{
    const struct ml_lifetime *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int describe_near(const struct search *s, struct ml_modules *modules)
{
    const struct ml_neighbourhood *found = ml_neighbours_found(&s->near);
    int r = found && found->has_below ? describe(s, modules, &found->below) : 0;

    if (r == 0 && found)
        r = describe(s, modules, &found->at);
    if (r == 0 && found && found->has_above)
        r = describe(s, modules, &found->above);
    return r;
}

static int describe_chosen(const struct search *s)
{
    struct ml_modules modules;
    int r = ml_modules_init(&modules, s->trace);

    if (r == 0 && s->opts->near)
        r = describe_near(s, &modules);
    for (size_t i = 0; r == 0 && i < s->heaviest.list.len; i++)
        r = describe(s, &modules, &s->heaviest.list.items[i]);
    if (!s->opts->near)
        ml_vec_sort(&s->found->list, earliest_first);
    ml_modules_release(&modules);
    return r;
}

static int add_up_rest(struct search *s)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->rest.parts.len; i++)
        r = ml_vec_push(&s->found->rest_columns, 0);
    if (r == 0)
        ml_block_columns_means(&s->rest, s->found->rest_columns.items);
    return r;
}

/* ---- The whole ------------------------------------------------------------- */

static void release_choice(struct search *s)
{
    ml_heaviest_release(&s->heaviest);
    ml_neighbours_release(&s->near);
    ml_block_columns_release(&s->rest);
}

static int begin_choice(struct search *s, struct ml_lifetimes *ret)
{
    const struct ml_lifetimes_opts *opts = s->opts;
    uint64_t run_ns = ml_trace_info(s->trace)->end_ns;

    *ret = (struct ml_lifetimes){
        .duration_ns = run_ns,
        .from_ns = opts->from_ns,
        .to_ns = opts->to_ns && opts->to_ns < run_ns ? opts->to_ns : run_ns,
    };
    s->found = ret;
    s->heaviest = (struct ml_heaviest){.top = opts->top};
    s->near = (struct ml_neighbours){.addr = opts->near ? *opts->near : 0};
    return opts->columns
               ? ml_block_columns_init(&s->rest, ret->from_ns,
                                       ml_max_u64(ret->to_ns, ret->from_ns + 1), opts->columns)
               : 0;
}

static int choose(struct search *s, struct ml_lifetimes *ret, struct ml_error *err)
{
    int r = begin_choice(s, ret);

    if (r == 0)
        r = choose_near(s, err);
    if (r != -ENOENT)
        return r;
    *err = (struct ml_error){0};
    release_choice(s);
    r = begin_choice(s, ret);
    return r < 0 ? r : choose_all(s, err);
}

int ml_lifetimes(const struct ml_trace *trace, const struct ml_lifetimes_opts *opts,
                 struct ml_lifetimes *ret, struct ml_error *err)
{
    struct search s = {.trace = trace, .opts = opts};
    int r = choose(&s, ret, err);

    if (r == 0)
        r = describe_chosen(&s);
    if (r == 0)
        r = add_up_rest(&s);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    release_choice(&s);
    return r;
}

void ml_lifetimes_release(struct ml_lifetimes *lifetimes)
{
    ml_vec_release(&lifetimes->list);
    ml_vec_release(&lifetimes->rest_columns);
    ml_arena_release(&lifetimes->arena);
    *lifetimes = (struct ml_lifetimes){0};
}
