/* mxnet_arrays.c: see mxnet_arrays.h.
 *
 * An mxnet::NDArray begins with a std::shared_ptr to its chunk, which begins with the handle of its
 * data and a std::vector of the handles of its indices. The vector has its final length from the
 * creation of the chunk; an engine thread may meanwhile fill in the pointers, one word each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_arrays.h"

#include <stdatomic.h>
#include <string.h>

struct vector {
    const char *begin, *end, *room;
};

static _Atomic uint32_t handle_bytes, autograd_node_at, storage_type_at; /* 0: unknown */

/* Two flags precede the type of storage: whether the memory is not MXNet's, and whether it is still
 * to be allocated. */
#define FOREIGN_BEFORE_TYPE 4

void ml_mxnet_arrays_begin(const struct ml_mxnet_layout *layout)
{
    atomic_store_explicit(&handle_bytes, layout->handle_bytes, memory_order_relaxed);
    atomic_store_explicit(&autograd_node_at, layout->autograd_node_at, memory_order_relaxed);
    atomic_store_explicit(&storage_type_at, layout->storage_type_at, memory_order_relaxed);
}

static struct ml_mxnet_block block_of(const char *at)
{
    const struct ml_mxnet_handle *h = (const struct ml_mxnet_handle *)(const void *)at;

    return (struct ml_mxnet_block){
        .ptr = __atomic_load_n(&h->ptr, __ATOMIC_RELAXED),
        .bytes = h->bytes,
        .device_type = h->device_type,
        .device_id = h->device_id,
    };
}

unsigned ml_mxnet_array_blocks(const void *array, struct ml_mxnet_block ret[ML_MXNET_PARTS_MAX])
{
    uint32_t bytes = atomic_load_explicit(&handle_bytes, memory_order_relaxed);
    struct vector indices;
    const char *chunk = NULL;
    unsigned parts = 0;

    if (bytes && array)
        memcpy(&chunk, array, sizeof(chunk));
    if (!chunk)
        return 0;
    ret[parts++] = block_of(chunk);
    memcpy(&indices, chunk + bytes, sizeof(indices));
    for (const char *at = indices.begin; at < indices.end && parts < ML_MXNET_PARTS_MAX;
         at += bytes)
        ret[parts++] = block_of(at);
    return parts;
}

bool ml_mxnet_array_is_foreign(const void *array)
{
    uint32_t at = atomic_load_explicit(&storage_type_at, memory_order_relaxed);
    const char *chunk = NULL;

    if (at && array)
        memcpy(&chunk, array, sizeof(chunk));
    return chunk && chunk[at - FOREIGN_BEFORE_TYPE];
}

const void *ml_mxnet_autograd_node(const void *array)
{
    uint32_t at = atomic_load_explicit(&autograd_node_at, memory_order_relaxed);
    const void *node = NULL;

    if (at && array)
        memcpy(&node, (const char *)array + at, sizeof(node));
    return node;
}
