/* leak_left.c: adds up the blocks that were never freed, in the groups of a book.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leak_book.h"

#include <errno.h>
#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
    const struct ml_leak_sum *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->group < y->group ? -1 : 1;
}

/* The driver's own memory is not the program's to free. */
static bool is_left(const struct ml_leak_book *book, const struct ml_block *block)
{
    return ml_leak_book_selects(book, block) &&
           !book->replay->spaces.items[block->space].drivers_own;
}

static int add_block(struct ml_leak_book *book, const struct ml_block *block,
                     const struct ml_leaks *leaks)
{
    int64_t group = ml_block_group_of(&book->groups, block);
    bool is_new = block->time_ns >= leaks->from_ns && block->time_ns <= leaks->to_ns;
    struct ml_leak_sum *sum;

    if (group < 0)
        return -ENOMEM;
    while (book->left.len <= (size_t)group)
        if (ml_vec_push(&book->left, (struct ml_leak_sum){.group = (uint32_t)book->left.len}) < 0)
            return -ENOMEM;
    sum = &book->left.items[group];
    sum->bytes += block->size;
    sum->blocks += ml_replay_count(book->replay, block);
    sum->new_bytes += is_new ? block->size : 0;
    return 0;
}

static int add_blocks(struct ml_leak_book *book, struct ml_leaks *ret)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && (block = ml_replay_next(book->replay, true, &cursor))) {
        if (!is_left(book, block))
            continue;
        ret->left_bytes += block->size;
        ret->left_blocks += ml_replay_count(book->replay, block);
        r = add_block(book, block, ret);
    }
    return r;
}

static int list_group(const struct ml_leak_book *book, const struct ml_leak_sum *sum,
                      struct ml_leaks *ret)
{
    struct ml_leak_left left = {.bytes = sum->bytes, .blocks = sum->blocks};

    if (ml_block_group_names(&book->groups, sum->group, &ret->at.arena, left.names) < 0)
        return -ENOMEM;
    return ml_vec_push(&ret->left, left);
}

int ml_leak_left(struct ml_leak_book *book, struct ml_leaks *ret)
{
    ML_VEC(struct ml_leak_sum) sums = {0};
    int r = add_blocks(book, ret);

    for (size_t i = 0; r == 0 && i < book->left.len; i++)
        if (book->left.items[i].blocks > 0)
            r = ml_vec_push(&sums, book->left.items[i]);
    ml_vec_sort(&sums, by_bytes);
    for (size_t i = 0; r == 0 && i < sums.len && i < ML_LEAK_LEFT_LISTED; i++)
        r = list_group(book, &sums.items[i], ret);
    ret->left_groups = sums.len;
    ml_vec_release(&sums);
    return r;
}
