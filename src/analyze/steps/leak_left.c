/* leak_left.c: adds up the blocks that were never freed, in the groups of a book.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leak_book.h"

#include <errno.h>
#include <stdlib.h>

struct left_sum {
    uint64_t bytes, blocks;
    uint32_t group;
};

typedef ML_VEC(struct left_sum) left_sums;

static int by_bytes(const void *a, const void *b)
{
    const struct left_sum *x = a, *y = b;

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

static int add_block(struct ml_leak_book *book, const struct ml_block *block, left_sums *sums)
{
    int64_t group = ml_block_group_of(&book->groups, block);

    if (group < 0)
        return -ENOMEM;
    while (sums->len <= (size_t)group)
        if (ml_vec_push(sums, (struct left_sum){.group = (uint32_t)sums->len}) < 0)
            return -ENOMEM;
    sums->items[group].bytes += block->size;
    sums->items[group].blocks += ml_replay_count(book->replay, block);
    return 0;
}

static int add_blocks(struct ml_leak_book *book, left_sums *sums, struct ml_leaks *ret)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && (block = ml_replay_next(book->replay, true, &cursor))) {
        if (!is_left(book, block))
            continue;
        ret->left_bytes += block->size;
        ret->left_blocks += ml_replay_count(book->replay, block);
        r = add_block(book, block, sums);
    }
    return r;
}

static int list_group(const struct ml_leak_book *book, const struct left_sum *sum,
                      struct ml_leaks *ret)
{
    struct ml_leak_left left = {.bytes = sum->bytes, .blocks = sum->blocks};

    if (ml_block_group_names(&book->groups, sum->group, &ret->at.arena, left.names) < 0)
        return -ENOMEM;
    return ml_vec_push(&ret->left, left);
}

int ml_leak_left(struct ml_leak_book *book, struct ml_leaks *ret)
{
    left_sums sums = {0};
    int r = add_blocks(book, &sums, ret);

    ml_vec_sort(&sums, by_bytes);
    for (size_t i = 0; r == 0 && i < sums.len && sums.items[i].blocks > 0; i++) {
        if (i < ML_LEAK_LEFT_LISTED)
            r = list_group(book, &sums.items[i], ret);
        ret->left_groups++;
    }
    ml_vec_release(&sums);
    return r;
}
