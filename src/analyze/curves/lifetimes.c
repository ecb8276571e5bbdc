/* lifetimes.c: see lifetimes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lifetimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "breakdown_keys.h"
#include "samples.h"
#include "modules.h"
#include "stack_owner.h"

#define OWNER_ROOM 128

struct kept {
    struct ml_allocation allocation;
    uint64_t ordinal, life_ns;
};

/* A heap whose first entry is the next to drop. */
struct largest {
    size_t top;
    ML_VEC(struct kept) heap;
};

static bool goes_before(const struct kept *a, const struct kept *b)
{
    if (a->allocation.size != b->allocation.size)
        return a->allocation.size < b->allocation.size;
    if (a->life_ns != b->life_ns)
        return a->life_ns < b->life_ns;
    return a->ordinal > b->ordinal;
}

static void sink(struct largest *l, size_t at)
{
    struct kept *heap = l->heap.items;

    for (;;) {
        size_t left = 2 * at + 1, least = at;
        struct kept moved = heap[at];

        for (size_t child = left; child < left + 2 && child < l->heap.len; child++)
            if (goes_before(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static int offer(struct largest *l, struct kept one)
{
    if (l->heap.len < l->top) {
        int r = ml_vec_push(&l->heap, one);

        for (size_t i = l->heap.len / 2 + 1; r == 0 && i-- > 0 && l->heap.len == l->top;)
            sink(l, i);
        return r;
    }
    if (l->top == 0 || goes_before(&one, &l->heap.items[0]))
        return 0;
    l->heap.items[0] = one;
    sink(l, 0);
    return 0;
}

static uint64_t end_of(const struct ml_lifetimes *of, const struct ml_allocation *a)
{
    return a->ended ? a->end_ns : of->duration_ns;
}

static bool is_shown(const struct ml_lifetimes *of, const struct ml_allocation *a)
{
    return a->counted && a->time_ns <= of->to_ns && end_of(of, a) >= of->from_ns;
}

static bool is_on(const struct ml_trace *trace, const struct ml_allocation *a, const char *device)
{
    return !device ||
           ml_device_is(ml_trace_string(trace, ml_trace_space(trace, a->space)->device, NULL),
                        device);
}

static int find_largest(const struct ml_trace *trace, struct largest *l, const char *device,
                        struct ml_lifetimes *ret, struct ml_error *err)
{
    const struct ml_allocation *batch;
    struct ml_allocations *all = NULL;
    uint64_t ordinal = 0;
    int n = 0, r = ml_allocations_open(trace, &all, err);

    while (r == 0 && (n = ml_allocations_next(all, &batch, err)) > 0)
        for (int i = 0; r == 0 && i < n; i++) {
            if (!is_shown(ret, &batch[i]) || !is_on(trace, &batch[i], device))
                continue;
            ret->blocks++;
            ret->bytes += batch[i].size;
            r = offer(
                l, (struct kept){batch[i], ordinal++, end_of(ret, &batch[i]) - batch[i].time_ns});
        }
    ml_allocations_free(all);
    return r < 0 ? r : n;
}

static const char *copy_string(const struct ml_trace *trace, uint32_t string,
                               struct ml_arena *arena)
{
    uint32_t len;
    const char *text = ml_trace_string(trace, string, &len);

    return ml_arena_dup(arena, text, len);
}

static int describe(const struct ml_trace *trace, struct ml_modules *modules,
                    const struct kept *kept, struct ml_lifetimes *ret)
{
    const struct ml_allocation *a = &kept->allocation;
    const struct ml_block block = {.scope = a->scope, .label = a->label, .category = a->category};
    int64_t module = ml_modules_of(modules, &block);
    char room[OWNER_ROOM];
    const char *owner = ml_stack_owner(trace, a->stack, room, sizeof(room));
    struct ml_lifetime one = {
        .bytes = a->size,
        .begin_ns = a->time_ns,
        .end_ns = end_of(ret, a),
        .ordinal = kept->ordinal,
        .category = a->category,
        .ended = a->ended,
    };

    if (module < 0)
        return -ENOMEM;
    one.label = a->label ? copy_string(trace, a->label, &ret->arena) : "";
    one.module = ml_module_title(modules, (uint32_t)module, &ret->arena);
    one.line = ml_line_text(trace, (uint32_t)ml_own_line(trace, a->stack), &ret->arena);
    one.owner = ml_arena_dup(&ret->arena, owner, strlen(owner));
    one.device = copy_string(trace, ml_trace_space(trace, a->space)->device, &ret->arena);
    if (!one.label || !one.module || !one.line || !one.owner || !one.device)
        return -ENOMEM;
    return ml_vec_push(&ret->list, one);
}

static int earliest_first(const void *a, const void *b)
{
    const struct ml_lifetime *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

int ml_lifetimes(const struct ml_trace *trace, const struct ml_lifetimes_opts *opts,
                 struct ml_lifetimes *ret, struct ml_error *err)
{
    struct largest largest = {.top = opts->top};
    uint64_t run_ns = ml_trace_info(trace)->end_ns;
    struct ml_modules modules = {0};
    int r;

    *ret = (struct ml_lifetimes){
        .duration_ns = run_ns,
        .from_ns = opts->from_ns,
        .to_ns = opts->to_ns && opts->to_ns < run_ns ? opts->to_ns : run_ns,
    };
    r = find_largest(trace, &largest, opts->device, ret, err);
    if (r == 0)
        r = ml_modules_init(&modules, trace);
    for (size_t i = 0; r == 0 && i < largest.heap.len; i++)
        r = describe(trace, &modules, &largest.heap.items[i], ret);
    ml_vec_sort(&ret->list, earliest_first);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_modules_release(&modules);
    ml_vec_release(&largest.heap);
    return r;
}

void ml_lifetimes_release(struct ml_lifetimes *lifetimes)
{
    ml_vec_release(&lifetimes->list);
    ml_arena_release(&lifetimes->arena);
    *lifetimes = (struct ml_lifetimes){0};
}
