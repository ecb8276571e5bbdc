/* standin_queries.c: queries about pointers, and the names of errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <string.h>

enum attribute {
    CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    RANGE_START = 11,
    RANGE_BYTES = 12,
    MAPPED = 13,
    MEMORY_POOL = 17,
};

enum memory_type { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };

static bool is_host(const struct standin_block *block)
{
    return block->kind == STANDIN_HOST || block->kind == STANDIN_REGISTERED;
}

/* @ret_bytes  how wide the answer is; 0: unknown question */
static uint64_t answer(const struct standin_block *block, unsigned attribute,
                       standin_address address, size_t *ret_bytes)
{
    *ret_bytes = sizeof(int);
    switch (attribute) {
    case MEMORY_TYPE: return is_host(block) ? HOST_MEMORY : DEVICE_MEMORY;
    case IS_MANAGED: return block->kind == STANDIN_MANAGED;
    case DEVICE_ORDINAL: return (unsigned)block->ordinal;
    case MAPPED: return 1;
    }
    *ret_bytes = sizeof(uint64_t);
    switch (attribute) {
    case CONTEXT: return (uintptr_t)block->context;
    case DEVICE_POINTER: return address;
    case HOST_POINTER: return is_host(block) || block->kind == STANDIN_MANAGED ? address : 0;
    case RANGE_START: return block->address;
    case RANGE_BYTES: return block->bytes;
    case MEMORY_POOL: return block->kind == STANDIN_POOLED ? (uintptr_t)block->owner : 0;
    }
    *ret_bytes = 0;
    return 0;
}

STANDIN_ENTRY(cuPointerGetAttribute, void *ret, unsigned attribute, standin_address address)
{
    size_t bytes = 0;
    int status = standin_lock();
    if (status)
        return status;
    const struct standin_block *block = standin_block_around(address);
    uint64_t value = block ? answer(block, attribute, address, &bytes) : 0;
    memcpy(ret, &value, bytes);
    return standin_unlock(bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Like the real driver: for an unknown pointer everything is 0, without an error. */
STANDIN_ENTRY(cuPointerGetAttributes, unsigned count, const unsigned *attributes, void **ret,
              standin_address address)
{
    static const struct standin_block nothing = {.kind = STANDIN_DEVICE};
    int status = standin_lock();
    if (status)
        return status;
    const struct standin_block *block = standin_block_around(address);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes;
        uint64_t value = answer(block ? block : &nothing, attributes[i], address, &bytes);
        if (!block)
            value = 0;
        memcpy(ret[i], &value, bytes);
    }
    return standin_unlock(CUDA_SUCCESS);
}

static const struct {
    int status;
    const char *name;
} names[] = {
#define ERROR(name)                                                                                \
    {                                                                                              \
        name, #name                                                                                \
    }
    ERROR(CUDA_SUCCESS),
    ERROR(CUDA_ERROR_INVALID_VALUE),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY),
    ERROR(CUDA_ERROR_NOT_INITIALIZED),
    ERROR(CUDA_ERROR_NO_DEVICE),
    ERROR(CUDA_ERROR_INVALID_DEVICE),
    ERROR(CUDA_ERROR_INVALID_IMAGE),
    ERROR(CUDA_ERROR_INVALID_CONTEXT),
    ERROR(CUDA_ERROR_FILE_NOT_FOUND),
    ERROR(CUDA_ERROR_INVALID_HANDLE),
    ERROR(CUDA_ERROR_NOT_FOUND),
    ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    ERROR(CUDA_ERROR_NOT_SUPPORTED),
};

STANDIN_ENTRY(cuGetErrorName, int error, const char **ret_name)
{
    *ret_name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].status == error)
            *ret_name = names[i].name;
    }
    return *ret_name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
