/* standin_pools.c: stream-ordered allocations and their pools.
 *
 * As measured on an H200: a pool grows in steps of 32 MiB, and gives back what is
 * free beyond its release threshold when something is synchronised. Fragmentation
 * is left out: what is free is free for any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>
#include <string.h>

#define STEP_BYTES (32 * STANDIN_MIB)

enum attribute {
    REUSE_FIRST = 1, /* three switches that change nothing here */
    REUSE_LAST = 3,
    RELEASE_THRESHOLD,
    RESERVED_CURRENT,
    RESERVED_HIGH,
    USED_CURRENT,
    USED_HIGH,
    ATTRIBUTES,
};

struct pool {
    struct pool *next;
    int ordinal;
    bool in_host_memory;
    bool dying; /* destroyed, with blocks that are still live */
    uint64_t values[ATTRIBUTES];
};

struct pool_properties {
    int type, handle_types;
    struct standin_place place;
    void *unused;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};

static struct pool *pools;
static struct pool *default_pools[STANDIN_DEVICES_MAX];
static struct pool *current_pools[STANDIN_DEVICES_MAX];

static struct pool *new_pool(int ordinal)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        abort();
    pool->ordinal = ordinal;
    for (int i = REUSE_FIRST; i <= REUSE_LAST; i++)
        pool->values[i] = 1;
    pool->next = pools;
    pools = pool;
    return pool;
}

static struct pool *default_pool(int ordinal)
{
    if (!default_pools[ordinal])
        default_pools[ordinal] = new_pool(ordinal);
    return default_pools[ordinal];
}

static struct pool *current_pool(int ordinal)
{
    return current_pools[ordinal] ? current_pools[ordinal] : default_pool(ordinal);
}

static bool exists(const struct pool *pool)
{
    for (const struct pool *p = pools; p; p = p->next) {
        if (p == pool)
            return !p->dying;
    }
    return false;
}

static void raise_to(struct pool *pool, enum attribute high, uint64_t value)
{
    if (pool->values[high] < value)
        pool->values[high] = value;
}

static void shrink(struct pool *pool, uint64_t keep)
{
    uint64_t needed = standin_round_up(pool->values[USED_CURRENT], STEP_BYTES);
    uint64_t left = keep > needed ? keep : needed;
    uint64_t reserved = pool->values[RESERVED_CURRENT];
    if (left >= reserved)
        return;
    if (!pool->in_host_memory)
        standin_give(pool->ordinal, reserved - left);
    pool->values[RESERVED_CURRENT] = left;
}

static int grow(struct pool *pool, uint64_t used)
{
    uint64_t needed = standin_round_up(used, STEP_BYTES);
    uint64_t reserved = pool->values[RESERVED_CURRENT];
    if (needed <= reserved)
        return CUDA_SUCCESS;
    int status =
        pool->in_host_memory ? CUDA_SUCCESS : standin_take(pool->ordinal, needed - reserved);
    if (status == CUDA_SUCCESS) {
        pool->values[RESERVED_CURRENT] = needed;
        raise_to(pool, RESERVED_HIGH, needed);
    }
    return status;
}

void standin_pools_synchronize(int ordinal)
{
    for (struct pool *pool = pools; pool; pool = pool->next) {
        if (pool->ordinal == ordinal)
            shrink(pool, pool->values[RELEASE_THRESHOLD] / STEP_BYTES * STEP_BYTES);
    }
}

void standin_pools_context_end(int ordinal)
{
    for (struct pool *pool = pools; pool; pool = pool->next) {
        if (pool->ordinal == ordinal)
            shrink(pool, 0);
    }
}

static void end_pool(struct pool *pool)
{
    shrink(pool, 0);
    struct pool **link = &pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    free(pool);
}

void standin_pooled_end(struct standin_block *block)
{
    struct pool *pool = block->owner;
    pool->values[USED_CURRENT] -= block->bytes;
    if (pool->dying && !pool->values[USED_CURRENT])
        end_pool(pool);
}

/* ---- Allocations ---------------------------------------------------------------- */

static int alloc_from(struct pool *pool, struct standin_context *context, uint64_t bytes,
                      struct standin_stream *stream, standin_address *ret_address)
{
    if (!bytes || !ret_address)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > standin_total_bytes())
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct standin_graph *graph = standin_stream_capture(stream);
    if (graph)
        return standin_graph_add_memory(graph, pool->ordinal, bytes, ret_address);
    uint64_t used = pool->values[USED_CURRENT] + bytes;
    int status = grow(pool, used);
    if (status)
        return status;
    pool->values[USED_CURRENT] = used;
    raise_to(pool, USED_HIGH, used);
    uint64_t pages = standin_round_up(bytes, STANDIN_PAGE_BYTES);
    *ret_address = standin_map(pages);
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_POOLED,
        .address = *ret_address,
        .bytes = bytes,
        .mapped_bytes = pages,
        .ordinal = pool->ordinal,
        .context = context,
        .owner = pool,
    });
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuMemAllocAsync, standin_address *ret_address, size_t bytes,
              struct standin_stream *stream)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    struct pool *pool = current_pool(context->ordinal);
    return standin_unlock(alloc_from(pool, context, bytes, stream, ret_address));
}

STANDIN_ENTRY(cuMemAllocFromPoolAsync, standin_address *ret_address, size_t bytes,
              struct pool *pool, struct standin_stream *stream)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!exists(pool))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    return standin_unlock(alloc_from(pool, context, bytes, stream, ret_address));
}

STANDIN_ENTRY(cuMemFreeAsync, standin_address address, struct standin_stream *stream)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_graph *graph = standin_stream_capture(stream);
    struct standin_block *block = standin_block_at(address);
    if (graph)
        status = standin_graph_add_memory(graph, 0, 0, &address);
    else if (standin_can_be_freed(block) && block->kind != STANDIN_MANAGED)
        standin_block_end(block);
    else if (address)
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* ---- Pools ------------------------------------------------------------------------- */

STANDIN_ENTRY(cuMemPoolCreate, struct pool **ret_pool, const struct pool_properties *properties)
{
    int status = standin_lock();
    if (status)
        return status;
    bool on_device = properties->place.kind == STANDIN_ON_DEVICE;
    if (on_device && standin_nvml_number(properties->place.number) < 0)
        return standin_unlock(CUDA_ERROR_INVALID_DEVICE);
    *ret_pool = new_pool(on_device ? properties->place.number : 0);
    (*ret_pool)->in_host_memory = !on_device;
    return standin_unlock(CUDA_SUCCESS);
}

/* It goes when its last block is freed. */
STANDIN_ENTRY(cuMemPoolDestroy, struct pool *pool)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(pool) || pool == default_pools[pool->ordinal])
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    if (current_pools[pool->ordinal] == pool)
        current_pools[pool->ordinal] = NULL;
    pool->dying = pool->values[USED_CURRENT];
    if (!pool->dying)
        end_pool(pool);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemPoolTrimTo, struct pool *pool, size_t keep)
{
    int status = standin_lock();
    if (status)
        return status;
    if (exists(pool))
        shrink(pool, standin_round_up(keep, STEP_BYTES));
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* Switches are ints, all else has 64 bits. */
static size_t value_bytes(unsigned attribute)
{
    return attribute <= REUSE_LAST ? sizeof(int) : sizeof(uint64_t);
}

STANDIN_ENTRY(cuMemPoolGetAttribute, struct pool *pool, unsigned attribute, void *ret_value)
{
    int status = standin_lock();
    if (status)
        return status;
    status = standin_unsafe_call();
    if (status)
        return standin_unlock(status);
    if (exists(pool) && attribute >= REUSE_FIRST && attribute < ATTRIBUTES)
        memcpy(ret_value, &pool->values[attribute], value_bytes(attribute));
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemPoolSetAttribute, struct pool *pool, unsigned attribute, const void *value)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(pool) || attribute < REUSE_FIRST || attribute >= ATTRIBUTES ||
        attribute == RESERVED_CURRENT || attribute == USED_CURRENT)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    memcpy(&pool->values[attribute], value, value_bytes(attribute));
    if (attribute == RESERVED_HIGH || attribute == USED_HIGH) /* to be set to 0 only */
        pool->values[attribute] = pool->values[attribute - 1];
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetDefaultMemPool, struct pool **ret_pool, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    *ret_pool = default_pool(device);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetMemPool, struct pool **ret_pool, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    *ret_pool = current_pool(device);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceSetMemPool, int device, struct pool *pool)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (exists(pool) && pool->ordinal == device)
        current_pools[device] = pool;
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* The same, by place; only devices have them here. */
STANDIN_ENTRY(cuMemGetDefaultMemPool, struct pool **ret_pool, const struct standin_place *place,
              int type)
{
    (void)type;
    if (place->kind != STANDIN_ON_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuDeviceGetDefaultMemPool(ret_pool, place->number);
}

STANDIN_ENTRY(cuMemGetMemPool, struct pool **ret_pool, const struct standin_place *place, int type)
{
    (void)type;
    if (place->kind != STANDIN_ON_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuDeviceGetMemPool(ret_pool, place->number);
}

STANDIN_ENTRY(cuMemSetMemPool, const struct standin_place *place, int type, struct pool *pool)
{
    (void)type;
    if (place->kind != STANDIN_ON_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuDeviceSetMemPool(place->number, pool);
}
