/* cuda_virtual.c: see cuda_virtual.h.
 *
 * A handle's block exists as long as its memory, and is the one that is booked. Its `context` is
 * the mapping at whose address it is booked, 0: at its own. A mapping's block is never booked; its
 * `context` is its handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_virtual.h"

#include <stddef.h>

#include "cuda_book.h"
#include "cuda_labels.h"
#include "record.h"
#include "recorder.h"

static uint64_t place_of(const struct ml_cuda_block *handle)
{
    return handle->context ? handle->context : handle->addr;
}

/* `mapping` is an address, or 0: back to the handle's own. */
static void move(struct ml_cuda_block *handle, uint64_t mapping)
{
    uint32_t space = ml_cuda_space(handle->device, ml_cuda_sorts[ML_SORT_HANDLE].space);

    ml_record_free(space, (void *)(uintptr_t)place_of(handle));
    handle->context = mapping;
    ml_record_alloc_stack(space, place_of(handle), handle->size, handle->stack);
    ml_cuda_label(space, place_of(handle));
}

/* @return whether the memory is gone */
static bool end_if_unused(struct ml_cuda_state *book, struct ml_cuda_block *handle)
{
    struct ml_cuda_block old;

    if (handle->references || handle->mappings)
        return false;
    ml_cuda_close_block(book, handle, &old);
    return true;
}

void ml_cuda_handle_made(struct ml_cuda_state *book, const struct ml_cuda_block *block)
{
    struct ml_cuda_block handle = *block;

    ml_cuda_count_up(&book->virtual_changes);
    handle.references = 1;
    ml_cuda_open_block(book, &handle);
}

void ml_cuda_handle_mapped(struct ml_cuda_state *book, uint64_t handle, uint64_t addr,
                           uint64_t bytes)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);
    struct ml_cuda_block mapping = {
        .addr = addr, .size = bytes, .context = handle, .sort = ML_SORT_MAPPING};

    ml_cuda_count_up(&book->virtual_changes);
    if (!found)
        return;
    if (!ml_cuda_blocks_put(book, &mapping)) {
        ml_recorder_cannot_follow();
        return;
    }
    found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);
    found->mappings++;
    if (!found->context && found->size == bytes)
        move(found, addr);
}

/* @return the device that has its memory back, or -1 */
static int unmapped(struct ml_cuda_state *book, struct ml_cuda_block *found)
{
    struct ml_cuda_block mapping = *found, *handle;
    int device;

    ml_cuda_blocks_remove(book, found);
    handle = ml_cuda_blocks_find(book, ML_SORT_HANDLE, mapping.context);
    if (!handle)
        return -1;
    if (handle->context == mapping.addr)
        move(handle, 0);
    handle->mappings--;
    device = handle->device;
    return end_if_unused(book, handle) ? device : -1;
}

int ml_cuda_range_unmapped(struct ml_cuda_state *book, uint64_t addr, uint64_t bytes)
{
    uint64_t end = addr + bytes;
    int device = -1;

    ml_cuda_count_up(&book->virtual_changes);
    while (addr < end) {
        struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_MAPPING, addr);
        uint64_t step = found ? found->size : ML_CUDA_PAGE_BYTES;
        int freed = found ? unmapped(book, found) : -1;
        if (freed >= 0)
            device = freed;
        if (step > end - addr)
            break;
        addr += step;
    }
    return device;
}

void ml_cuda_handle_retained(struct ml_cuda_state *book, uint64_t handle)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);

    ml_cuda_count_up(&book->virtual_changes);
    if (found)
        found->references++;
}

void ml_cuda_handle_released(struct ml_cuda_state *book, uint64_t handle,
                             struct ml_cuda_block *ret_old)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, handle);

    ml_cuda_count_up(&book->virtual_changes);
    if (!found || !found->references)
        return; /* the driver will refuse it, or knows more than the book */
    *ret_old = *found;
    found->references--;
    end_if_unused(book, found);
}

void ml_cuda_handle_restored(struct ml_cuda_state *book, const struct ml_cuda_block *old)
{
    struct ml_cuda_block *found = ml_cuda_blocks_find(book, ML_SORT_HANDLE, old->addr);

    if (found)
        found->references++;
    else
        ml_cuda_open_block(book, old);
}
