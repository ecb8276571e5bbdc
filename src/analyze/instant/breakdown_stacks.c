/* breakdown_stacks.c: distinguishes groups by stack that have the same name. The name of a stack
 * contains only its innermost frames; callers further out may differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "breakdown_keys.h"

/* A listed group. */
struct named {
    struct ml_breakdown_group *group;
    size_t key;  /* the position of the stack among the group's names */
    size_t also; /* the frame by which it differs from its neighbours; 0: not needed */
};

static const char *name_of(const struct named *n)
{
    return n->group->names[n->key];
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(name_of(x), name_of(y));

    return order ? order
                 : (x->group->stack > y->group->stack) - (x->group->stack < y->group->stack);
}

/* The innermost frame that differs; 0 if the stacks are equal. */
static size_t first_difference(const struct ml_trace *trace, uint32_t a, uint32_t b)
{
    size_t frame = 0;

    while (a != b && a != 0 && b != 0 &&
           ml_trace_stack(trace, a)->frame == ml_trace_stack(trace, b)->frame) {
        a = ml_trace_stack(trace, a)->caller;
        b = ml_trace_stack(trace, b)->caller;
        frame++;
    }
    return a == b ? 0 : frame;
}

/* Compares each with the next one of the same name. */
static void find_differences(const struct ml_trace *trace, struct named *list, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        struct named *n = &list[i], *next = &list[i + 1];
        size_t frame;

        if (!name_of(n)[0] || strcmp(name_of(n), name_of(next)) != 0)
            continue;
        frame = first_difference(trace, n->group->stack, next->group->stack);
        n->also = frame > n->also ? frame : n->also;
        next->also = frame;
    }
}

static int rename_alike(const struct ml_trace *trace, struct named *list, size_t count,
                        struct ml_arena *arena)
{
    find_differences(trace, list, count);
    for (size_t i = 0; i < count; i++) {
        const char *name;

        if (list[i].also == 0)
            continue;
        name = ml_stack_key_text(trace, list[i].group->stack, list[i].also, arena);
        if (!name)
            return -ENOMEM;
        list[i].group->names[list[i].key] = name;
    }
    return 0;
}

int ml_breakdown_tell_stacks_apart(const struct ml_trace *trace, struct ml_breakdown *breakdown)
{
    size_t key = 0, count = breakdown->groups.len;
    struct named *list;
    int r;

    while (key < breakdown->by_count && breakdown->by[key] != ML_KEY_STACK)
        key++;
    if (key == breakdown->by_count || count < 2)
        return 0;
    list = calloc(count, sizeof(*list));
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct named){.group = &breakdown->groups.items[i], .key = key};
    qsort(list, count, sizeof(*list), by_name);
    r = rename_alike(trace, list, count, &breakdown->at.arena);
    free(list);
    return r;
}
