/* standin_memory.c: cuMemAlloc and similar calls.
 *
 * As measured on an H200: pages of 2 MiB; up to 1 MiB shares a page with others
 * of its context, and the page goes back when the last of them does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL_MAX STANDIN_MIB
#define UNIT 512
#define UNITS (STANDIN_PAGE_BYTES / UNIT)
#define PITCH_BYTES 512

struct chunk {
    struct chunk *next;
    standin_address address;
    struct standin_context *context;
    unsigned blocks;
    bool taken[UNITS];
};

static struct chunk *chunks;

/* Where `wanted` units are free side by side; UNITS when nowhere. */
static size_t gap_in(const struct chunk *chunk, size_t wanted)
{
    size_t run = 0;
    for (size_t i = 0; i < UNITS; i++) {
        run = chunk->taken[i] ? 0 : run + 1;
        if (run == wanted)
            return i + 1 - wanted;
    }
    return UNITS;
}

static struct chunk *new_chunk(struct standin_context *context)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk || standin_take(context->ordinal, STANDIN_PAGE_BYTES)) {
        free(chunk);
        return NULL;
    }
    chunk->address = standin_map(STANDIN_PAGE_BYTES);
    chunk->context = context;
    chunk->next = chunks;
    chunks = chunk;
    return chunk;
}

static struct chunk *chunk_for(struct standin_context *context, size_t units)
{
    for (struct chunk *chunk = chunks; chunk; chunk = chunk->next) {
        if (chunk->context == context && gap_in(chunk, units) < UNITS)
            return chunk;
    }
    return new_chunk(context);
}

static int alloc_small(struct standin_context *context, uint64_t bytes,
                       standin_address *ret_address)
{
    size_t units = standin_round_up(bytes, UNIT) / UNIT;
    struct chunk *chunk = chunk_for(context, units);
    if (!chunk)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t first = gap_in(chunk, units);
    memset(&chunk->taken[first], true, units);
    chunk->blocks++;
    *ret_address = chunk->address + first * UNIT;
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_DEVICE,
        .address = *ret_address,
        .bytes = bytes,
        .ordinal = context->ordinal,
        .context = context,
        .owner = chunk,
    });
    return CUDA_SUCCESS;
}

static int alloc(struct standin_context *context, uint64_t bytes, standin_address *ret_address)
{
    if (!bytes || !ret_address)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > standin_total_bytes())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes <= SMALL_MAX)
        return alloc_small(context, bytes, ret_address);
    return standin_pages_alloc(context, STANDIN_DEVICE, bytes, ret_address);
}

void standin_memory_end(struct standin_block *block)
{
    struct chunk *chunk = block->owner;
    if (!chunk)
        return;
    size_t first = (block->address - chunk->address) / UNIT;
    memset(&chunk->taken[first], false, standin_round_up(block->bytes, UNIT) / UNIT);
    if (--chunk->blocks)
        return;
    struct chunk **link = &chunks;
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    standin_give(block->ordinal, STANDIN_PAGE_BYTES);
    standin_unmap(chunk->address, STANDIN_PAGE_BYTES);
    free(chunk);
}

/* STANDIN_BLOCKS=BYTES: an allocation of exactly that size does not come back. */
static void block_if_asked(size_t bytes)
{
    const char *blocks = getenv("STANDIN_BLOCKS");

    if (!blocks || bytes != strtoull(blocks, NULL, 10))
        return;
    standin_state_note(".blocked");
    for (;;)
        pause();
}

STANDIN_ENTRY(cuMemAlloc_v2, standin_address *ret_address, size_t bytes)
{
    struct standin_context *context;
    int status;

    block_if_asked(bytes);
    status = standin_lock_context(&context);
    if (status)
        return status;
    return standin_unlock(alloc(context, bytes, ret_address));
}

STANDIN_ENTRY(cuMemAllocPitch_v2, standin_address *ret_address, size_t *ret_pitch, size_t width,
              size_t height, unsigned element)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if ((element != 4 && element != 8 && element != 16) || !ret_pitch)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_pitch = standin_round_up(width, PITCH_BYTES);
    return standin_unlock(alloc(context, *ret_pitch * height, ret_address));
}

bool standin_can_be_freed(const struct standin_block *block)
{
    return block && (block->kind == STANDIN_DEVICE || block->kind == STANDIN_MANAGED ||
                     block->kind == STANDIN_POOLED || block->kind == STANDIN_GRAPH ||
                     block->kind == STANDIN_IMPORTED);
}

STANDIN_ENTRY(cuMemFree_v2, standin_address address)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_at(address);
    if (standin_can_be_freed(block))
        standin_block_end(block);
    else if (address)
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemGetInfo_v2, size_t *ret_free, size_t *ret_total)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_total = standin_total_bytes() - STANDIN_RESERVED_BYTES;
    *ret_free = standin_state_free(standin_nvml_number(context->ordinal));
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemGetAddressRange_v2, standin_address *ret_base, size_t *ret_bytes,
              standin_address address)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    const struct standin_block *block = standin_block_around(address);
    if (!block)
        return standin_unlock(CUDA_ERROR_NOT_FOUND);
    if (ret_base)
        *ret_base = block->address;
    if (ret_bytes)
        *ret_bytes = block->bytes;
    return standin_unlock(CUDA_SUCCESS);
}
