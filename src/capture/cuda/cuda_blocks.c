/* cuda_blocks.c: a hash table with linear probing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_blocks.h"

#include <stddef.h>

#define MASK (ML_CUDA_BLOCK_SLOTS - 1)
#define FULL (ML_CUDA_BLOCK_SLOTS / 4 * 3)

/* Addresses differ in their middle bits: multiply, take the high ones. */
static uint32_t home(unsigned sort, uint64_t addr)
{
    return (uint32_t)((addr + sort) * UINT64_C(0x9e3779b97f4a7c15) >> 46) & MASK;
}

/* The block's slot, or the empty one for it. */
static struct ml_cuda_block *slot(struct ml_cuda_state *book, unsigned sort, uint64_t addr)
{
    uint32_t i = home(sort, addr);

    while (book->blocks[i].sort != ML_SORT_NONE &&
           (book->blocks[i].sort != sort || book->blocks[i].addr != addr))
        i = (i + 1) & MASK;
    return &book->blocks[i];
}

bool ml_cuda_blocks_put(struct ml_cuda_state *book, const struct ml_cuda_block *block)
{
    struct ml_cuda_block *at = slot(book, block->sort, block->addr);

    if (at->sort == ML_SORT_NONE) {
        if (book->blocks_used == FULL)
            return false;
        book->blocks_used++;
    }
    *at = *block;
    return true;
}

struct ml_cuda_block *ml_cuda_blocks_find(struct ml_cuda_state *book, enum ml_cuda_sort sort,
                                          uint64_t addr)
{
    struct ml_cuda_block *at = slot(book, sort, addr);

    return at->sort == ML_SORT_NONE ? NULL : at;
}

/* Moves up later blocks that its slot kept from their home. */
void ml_cuda_blocks_remove(struct ml_cuda_state *book, struct ml_cuda_block *block)
{
    uint32_t hole = (uint32_t)(block - book->blocks);

    book->blocks_used--;
    for (uint32_t i = (hole + 1) & MASK; book->blocks[i].sort != ML_SORT_NONE; i = (i + 1) & MASK) {
        uint32_t from_home = (i - home(book->blocks[i].sort, book->blocks[i].addr)) & MASK;
        if (from_home < ((i - hole) & MASK))
            continue;
        book->blocks[hole] = book->blocks[i];
        hole = i;
    }
    book->blocks[hole].sort = ML_SORT_NONE;
}

void ml_cuda_blocks_clear(struct ml_cuda_state *book)
{
    for (uint32_t i = 0; book->blocks_used && i < ML_CUDA_BLOCK_SLOTS; i++) {
        if (book->blocks[i].sort == ML_SORT_NONE)
            continue; /* its page may never have been written to */
        book->blocks[i].sort = ML_SORT_NONE;
        book->blocks_used--;
    }
}
