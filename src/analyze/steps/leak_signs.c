/* leak_signs.c: finds the groups in a book that look like leaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leak_book.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS_WANTED 3 /* after the warm-up */
#define USUAL_WARM_UP 2u

const char *ml_leak_sign_name(enum ml_leak_sign sign)
{
    static const char *const names[] = {"steady", "likely", "maybe"};

    return sign < ML_LEAK_SIGNS ? names[sign] : "";
}

const char *ml_leak_unit_name(enum ml_leak_unit unit)
{
    static const char *const names[] = {"step", "time", "events"};

    return unit <= ML_LEAK_BY_EVENTS ? names[unit] : "";
}

/* The changes of a group in the steps after the warm-up. */
struct growth {
    uint32_t group;
    int64_t bytes, blocks;
    int64_t late_bytes; /* in the second half */
    uint64_t grew, fell;
    uint32_t last; /* step in which it grew */
    struct ml_leak_sum left;
    enum ml_leak_sign sign;
};

typedef ML_VEC(struct growth) growths;

static uint64_t warm_up_of(uint64_t steps, int64_t asked)
{
    if (asked >= 0)
        return ml_min_u64((uint64_t)asked, steps);
    if (steps <= STEPS_WANTED)
        return steps > 1; /* the first always allocates more than it leaves to be freed */
    return ml_min_u64(USUAL_WARM_UP, steps - STEPS_WANTED);
}

/* Whether the same blocks became larger ever faster, as those of a batch that doubles from step to
 * step. A list that is copied to add to it grows by as much each time; the second half may have two
 * steps of three. */
static bool is_multiplied(const struct growth *g, enum ml_leak_unit unit)
{
    int64_t early_bytes = ml_leak_add(g->bytes, -g->late_bytes);

    return unit == ML_LEAK_BY_STEP && g->blocks <= 0 && early_bytes < g->late_bytes / 3;
}

/* @return whether it looks like a leak at all */
static bool judge(struct growth *g, uint64_t measured, enum ml_leak_unit unit)
{
    bool is_doubtful = is_multiplied(g, unit);

    if (g->bytes <= 0)
        return false;
    if (measured >= STEPS_WANTED && g->grew == measured && !is_doubtful)
        g->sign = ML_LEAK_STEADY;
    else if (g->fell == 0 && g->grew >= STEPS_WANTED && g->late_bytes >= g->bytes / 3 &&
             !is_doubtful)
        g->sign = ML_LEAK_LIKELY;
    else if ((measured < STEPS_WANTED && g->grew == measured) ||
             (g->grew > 1 && g->grew > g->fell && g->late_bytes > 0))
        g->sign = ML_LEAK_MAYBE;
    else
        return false;
    return true;
}

/* Blocks may have been freed in the same slices in their place. */
static uint64_t left_of(const struct growth *g)
{
    return ml_min_u64(g->left.new_bytes, (uint64_t)g->bytes);
}

/* Whether most of what grew was never freed. Unknown of steps. */
static bool is_left(const struct growth *g)
{
    return left_of(g) > (uint64_t)g->bytes / 2;
}

static int by_strength(const void *a, const void *b)
{
    const struct growth *x = a, *y = b;

    if (x->sign != y->sign)
        return x->sign < y->sign ? -1 : 1;
    if (is_left(x) != is_left(y))
        return is_left(x) ? -1 : 1;
    /* A cache that fills up grows ever less, a leak does not. */
    if (x->late_bytes != y->late_bytes)
        return x->late_bytes < y->late_bytes ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->group < y->group ? -1 : 1;
}

/* Keys and values become longer with each token: only more of them are growth. */
static bool is_growth(const struct ml_leak_change *change, const struct ml_leak_group *group)
{
    return change->bytes > 0 && (group->not_cache || change->blocks > 0);
}

static void add_change(struct growth *g, const struct ml_leak_change *change,
                       const struct ml_leak_group *group, uint64_t middle)
{
    g->bytes = ml_leak_add(g->bytes, change->bytes);
    g->blocks = ml_leak_add(g->blocks, change->blocks);
    g->late_bytes = ml_leak_add(g->late_bytes, change->step > middle ? change->bytes : 0);
    g->grew += is_growth(change, group);
    g->last = is_growth(change, group) ? change->step : g->last;
    g->fell += change->bytes < 0;
}

/* Adds the changes up and drops groups that do not look like leaks. */
static int find_growths(const struct ml_leak_book *book, const struct ml_leaks *leaks,
                        growths *list)
{
    uint64_t middle = leaks->warm_up + leaks->measured / 2;
    size_t kept = 0;

    if (book->list.len == 0)
        return 0; /* nothing changed either */
    for (size_t i = 0; i < book->list.len; i++)
        if (ml_vec_push(list, (struct growth){.group = (uint32_t)i}) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < book->changes.len; i++) {
        const struct ml_leak_change *change = &book->changes.items[i];

        if (change->step > leaks->warm_up)
            add_change(&list->items[change->group], change, &book->list.items[change->group],
                       middle);
    }
    for (size_t i = 0; i < list->len; i++) {
        if (i < book->left.len)
            list->items[i].left = book->left.items[i];
        if (judge(&list->items[i], leaks->measured, leaks->unit))
            list->items[kept++] = list->items[i];
    }
    list->len = kept;
    ml_vec_sort(list, by_strength);
    return 0;
}

static int list_leak(const struct ml_leak_book *book, const struct growth *g, struct ml_leaks *ret)
{
    const struct ml_leak_group *group = &book->list.items[g->group];
    struct ml_leak leak = {
        .sign = g->sign,
        .grown_bytes = (uint64_t)g->bytes,
        .grown_blocks = g->blocks,
        .live_bytes = group->end_bytes,
        .blocks = group->end_blocks,
        .bytes_per_step = (double)g->bytes / (double)ml_leaks_all_steps(ret),
        .blocks_per_step = (double)g->blocks / (double)ml_leaks_all_steps(ret),
        .grew = g->grew,
        .fell = g->fell,
        .quiet = ret->steps - g->last,
        .left_bytes = left_of(g),
    };

    if (ml_block_group_names(&book->groups, g->group, &ret->at.arena, leak.names) < 0)
        return -ENOMEM;
    if (ml_vec_push(&ret->list, leak) < 0)
        return -ENOMEM;
    return group->stack ? ml_stack_view(book->replay->trace, group->stack,
                                        &ret->list.items[ret->list.len - 1].stack)
                        : 0;
}

static int list_leaks(const struct ml_leak_book *book, size_t top, struct ml_leaks *ret)
{
    growths list = {0};
    bool from_libc = true;
    int r = find_growths(book, ret, &list);

    if (r == 0) /* views of stacks must not move */
        r = ml_vec_reserve(&ret->list, list.len < top ? list.len : top);
    for (size_t i = 0; r == 0 && i < list.len; i++) {
        ret->found[list.items[i].sign]++;
        ret->found_bytes[list.items[i].sign] += (uint64_t)list.items[i].bytes;
        ret->found_left_bytes += left_of(&list.items[i]);
        if (i >= top)
            continue;
        from_libc &= !book->list.items[list.items[i].group].not_libc;
        r = list_leak(book, &list.items[i], ret);
    }
    ret->stackless = ml_stackless_why(book->replay->trace, from_libc);
    ml_vec_release(&list);
    return r;
}

void ml_leak_range(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                   struct ml_leaks *ret)
{
    const struct ml_leak_end *ends = book->ends.items;

    if (book->ends.len < 2)
        return;
    ret->steps = book->ends.len - 1;
    ret->warm_up = warm_up_of(ret->steps, opts->warm_up);
    ret->measured = ret->steps - ret->warm_up;
    if (ret->measured == 0)
        return;
    ret->first_number = ends[ret->warm_up].number;
    ret->last_number = ends[ret->steps - 1].number;
    ret->from_ns = ends[ret->warm_up].time_ns;
    ret->to_ns = ends[ret->steps].time_ns;
    ret->from_bytes = ends[ret->warm_up].bytes;
    ret->to_bytes = ends[ret->steps].bytes;
    for (uint64_t i = ret->warm_up + 1; i <= ret->steps; i++)
        ret->paused += ends[i].paused;
    ret->bytes_per_step =
        ((double)ret->to_bytes - (double)ret->from_bytes) / (double)ml_leaks_all_steps(ret);
}

int ml_leak_signs(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                  struct ml_leaks *ret)
{
    return ret->measured > 0 ? list_leaks(book, opts->top, ret) : 0;
}
