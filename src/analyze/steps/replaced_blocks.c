/* replaced_blocks.c: see replaced_blocks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replaced_blocks.h"

#include <errno.h>
#include <stdlib.h>

#define STEPS_BETWEEN 1 /* the free and the allocation may be on two sides of a step's end */

/* What a group gained or lost over all steps that count. */
struct balance {
    int64_t bytes, blocks;
};

typedef ML_VEC(struct balance) balances;

/* A change of a group in the direction of its balance. */
struct part {
    struct ml_leak_change *change;
    struct balance *balance;
    uint32_t space;
};

typedef ML_VEC(struct part) parts;

static int sign_of(int64_t n)
{
    return n < 0 ? -1 : n > 0;
}

/* Both figures of the change, and of the group in all, go the same way. */
static bool is_one_way(const struct ml_leak_change *change, const struct balance *balance)
{
    int sign = sign_of(change->blocks);

    return sign != 0 && sign_of(change->bytes) == sign && sign_of(balance->blocks) == sign &&
           sign_of(balance->bytes) == sign;
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* By the mean size of a block, without rounding. */
static int by_size(const struct ml_leak_change *a, const struct ml_leak_change *b)
{
    ml_u128 x = (ml_u128)magnitude(a->bytes) * magnitude(b->blocks);
    ml_u128 y = (ml_u128)magnitude(b->bytes) * magnitude(a->blocks);

    return x < y ? -1 : x > y;
}

static int by_space_and_size(const struct part *x, const struct part *y)
{
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    return by_size(x->change, y->change);
}

static int in_order(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int r = by_space_and_size(x, y);

    if (r)
        return r;
    if (x->change->step != y->change->step)
        return x->change->step < y->change->step ? -1 : 1;
    return x->change->group < y->change->group ? -1 : x->change->group > y->change->group;
}

static int add_up(const struct ml_leak_book *book, uint64_t warm_up, balances *ret)
{
    for (size_t i = 0; i < book->list.len; i++)
        if (ml_vec_push(ret, (struct balance){0}) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < book->changes.len; i++) {
        const struct ml_leak_change *change = &book->changes.items[i];
        struct balance *balance = &ret->items[change->group];

        if (change->step <= warm_up)
            continue;
        balance->bytes = ml_leak_add(balance->bytes, change->bytes);
        balance->blocks = ml_leak_add(balance->blocks, change->blocks);
    }
    return 0;
}

static int list_parts(struct ml_leak_book *book, uint64_t warm_up, balances *all, parts *ret)
{
    for (size_t i = 0; i < book->changes.len; i++) {
        struct ml_leak_change *change = &book->changes.items[i];
        const struct ml_leak_group *group = &book->list.items[change->group];
        struct part part = {change, &all->items[change->group], group->space};

        if (change->step <= warm_up || group->several_spaces || !is_one_way(change, part.balance))
            continue;
        if (ml_vec_push(ret, part) < 0)
            return -ENOMEM;
    }
    ml_vec_sort(ret, in_order);
    return 0;
}

/* Takes as many blocks of their mean size out of a change. */
static void take_out(struct part *part, uint64_t blocks)
{
    struct ml_leak_change *change = part->change;
    uint64_t of = magnitude(change->blocks);
    uint64_t bytes = (uint64_t)((ml_u128)magnitude(change->bytes) * blocks / of);
    bool came = change->blocks > 0;
    int64_t more_bytes = (int64_t)(came ? 0 - bytes : bytes);
    int64_t more_blocks = (int64_t)(came ? 0 - blocks : blocks);

    change->bytes = ml_leak_add(change->bytes, more_bytes);
    change->blocks = ml_leak_add(change->blocks, more_blocks);
    part->balance->bytes = ml_leak_add(part->balance->bytes, more_bytes);
    part->balance->blocks = ml_leak_add(part->balance->blocks, more_blocks);
}

/* Blocks that can still be matched. */
static uint64_t left_of(const struct part *part)
{
    return ml_min_u64(magnitude(part->change->blocks), magnitude(part->balance->blocks));
}

/* The first part from `at` on whose blocks are gone, not matched yet, and not before a step. */
static size_t next_gone(const struct part *items, size_t count, size_t at, uint64_t first_step)
{
    while (at < count && (items[at].change->blocks >= 0 || left_of(&items[at]) == 0 ||
                          items[at].change->step < first_step))
        at++;
    return at;
}

/* Of one space and size, by time: blocks that are gone make up for blocks that came. */
static void match(struct part *items, size_t count, uint32_t steps_between)
{
    size_t gone = 0;

    for (size_t i = 0; i < count; i++) {
        struct part *came = &items[i];
        uint64_t blocks, step = came->change->step;

        while (came->change->blocks > 0 && left_of(came) > 0) {
            gone = next_gone(items, count, gone, step - ml_min_u64(step, steps_between));
            if (gone == count || items[gone].change->step > step + steps_between)
                break;
            blocks = ml_min_u64(left_of(came), left_of(&items[gone]));
            take_out(came, blocks);
            take_out(&items[gone], blocks);
        }
    }
}

static void match_all(const parts *list)
{
    for (size_t begin = 0, end; begin < list->len; begin = end) {
        for (end = begin + 1; end < list->len; end++)
            if (by_space_and_size(&list->items[begin], &list->items[end]) != 0)
                break;
        match(list->items + begin, end - begin, 0);
        match(list->items + begin, end - begin, STEPS_BETWEEN);
    }
}

static bool has_fallen(const balances *all)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->items[i].blocks < 0)
            return true;
    return false;
}

int ml_leak_replaced(struct ml_leak_book *book, uint64_t warm_up)
{
    balances all = {0};
    parts list = {0};
    int r = add_up(book, warm_up, &all);

    if (r == 0 && has_fallen(&all))
        r = list_parts(book, warm_up, &all, &list);
    if (r == 0)
        match_all(&list);
    ml_vec_release(&list);
    ml_vec_release(&all);
    return r;
}
