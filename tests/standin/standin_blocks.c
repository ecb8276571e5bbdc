/* standin_blocks.c: the table of everything that has an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include "map.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct ml_map blocks; /* address -> struct standin_block * */

standin_address standin_map(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? 0 : (standin_address)(uintptr_t)at;
}

void standin_unmap(standin_address address, uint64_t bytes)
{
    munmap((void *)(uintptr_t)address, bytes);
}

void standin_block_add(const struct standin_block *block)
{
    struct standin_block *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = *block;
    if (ml_map_put(&blocks, block->address, (uintptr_t)copy))
        abort();
}

struct standin_block *standin_block_at(standin_address address)
{
    uint64_t found;
    return ml_map_get(&blocks, address, &found) ? (void *)(uintptr_t)found : NULL;
}

struct standin_block *standin_block_around(standin_address address)
{
    size_t cursor = 0;
    uint64_t value;
    while (ml_map_next(&blocks, &cursor, NULL, &value)) {
        struct standin_block *block = (void *)(uintptr_t)value;
        if (address - block->address < block->bytes)
            return block;
    }
    return NULL;
}

static void tell_family(struct standin_block *block)
{
    switch (block->kind) {
    case STANDIN_DEVICE: standin_memory_end(block); break;
    case STANDIN_POOLED: standin_pooled_end(block); break;
    case STANDIN_GRAPH: standin_graph_end(block); break;
    case STANDIN_MAPPED: standin_mapped_end(block); break;
    default: break;
    }
}

void standin_block_end(struct standin_block *block)
{
    tell_family(block);
    if (block->taken_bytes)
        standin_give(block->ordinal, block->taken_bytes);
    if (block->mapped_bytes)
        standin_unmap(block->address, block->mapped_bytes);
    ml_map_take(&blocks, block->address, NULL);
    free(block);
}

int standin_pages_alloc(struct standin_context *context, enum standin_kind kind, uint64_t bytes,
                        standin_address *ret_address)
{
    uint64_t pages = standin_round_up(bytes, STANDIN_PAGE_BYTES);
    int status = standin_take(context->ordinal, pages);
    if (status)
        return status;
    *ret_address = standin_map(pages);
    standin_block_add(&(struct standin_block){
        .kind = kind,
        .address = *ret_address,
        .bytes = bytes,
        .mapped_bytes = pages,
        .taken_bytes = pages,
        .ordinal = context->ordinal,
        .context = context,
    });
    return CUDA_SUCCESS;
}

/* The table must not change while it is walked: one block at a time. */
static struct standin_block *block_of(const struct standin_context *context)
{
    size_t cursor = 0;
    uint64_t value;
    while (ml_map_next(&blocks, &cursor, NULL, &value)) {
        struct standin_block *block = (void *)(uintptr_t)value;
        if (block->context == context)
            return block;
    }
    return NULL;
}

void standin_blocks_end(struct standin_context *context)
{
    struct standin_block *block;
    while ((block = block_of(context)))
        standin_block_end(block);
}
