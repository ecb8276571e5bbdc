/* cuda_virtual.c: see cuda_virtual.h.
 *
 * A handle's block knows in `context` where it is mapped, 0: nowhere. A mapping's
 * block knows there its handle, 0: released, the mapping alone holds the memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_virtual.h"

#include <stddef.h>

#include "cuda_book.h"

void ml_cuda_handle_mapped(struct ml_cuda_state *book, uint64_t handle, uint64_t addr,
                           uint64_t bytes)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);
    struct ml_cuda_block block, mapping;

    if (!found || found->context || found->size != bytes)
        return;
    ml_cuda_close_block(book, found, &block);
    mapping = block;
    mapping.sort = ML_SORT_MAPPING;
    mapping.addr = addr;
    mapping.context = handle;
    ml_cuda_open_block(book, &mapping);
    block.context = addr;
    ml_cuda_blocks_put(book, &block);
}

/* The memory stands at its handle again, or is gone. */
static void unmapped(struct ml_cuda_state *book, struct ml_cuda_block *found)
{
    struct ml_cuda_block mapping, *handle;

    ml_cuda_close_block(book, found, &mapping);
    handle = mapping.context ? ml_cuda_blocks_find(book, ML_SORT_HANDLE, mapping.context) : NULL;
    if (handle) {
        struct ml_cuda_block block = *handle;
        block.context = 0;
        ml_cuda_open_block(book, &block);
    }
}

void ml_cuda_range_unmapped(struct ml_cuda_state *book, uint64_t addr, uint64_t bytes)
{
    uint64_t end = addr + bytes;

    while (addr < end) {
        struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_MAPPING, addr);
        uint64_t step = found ? found->size : ML_CUDA_PAGE_BYTES;
        if (found)
            unmapped(book, found);
        if (step > end - addr)
            break;
        addr += step;
    }
}

void ml_cuda_handle_retained(struct ml_cuda_state *book, uint64_t handle)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);

    if (found)
        found->references++;
}

void ml_cuda_handle_released(struct ml_cuda_state *book, uint64_t handle,
                             struct ml_cuda_block *ret_old)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);
    struct ml_cuda_block *mapping;

    if (!found)
        return;
    *ret_old = *found;
    if (found->references) {
        found->references--;
    } else if (found->context) {
        ml_cuda_blocks_remove(book, found);
        mapping = ml_cuda_blocks_find(book, ML_SORT_MAPPING, ret_old->context);
        if (mapping)
            mapping->context = 0;
    } else {
        ml_cuda_close_block(book, found, ret_old);
    }
}

void ml_cuda_handle_restored(struct ml_cuda_state *book, const struct ml_cuda_block *old)
{
    struct ml_cuda_block *mapping;

    if (!old->references && !old->context) {
        ml_cuda_open_block(book, old);
        return;
    }
    ml_cuda_blocks_put(book, old);
    mapping = old->context ? ml_cuda_blocks_find(book, ML_SORT_MAPPING, old->context) : NULL;
    if (mapping)
        mapping->context = old->addr;
}
