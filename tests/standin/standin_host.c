/* standin_host.c: host memory that the driver pins. It costs nothing on a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#define HOST_PAGE_BYTES 4096

STANDIN_ENTRY(cuMemHostAlloc, void **ret_pointer, size_t bytes, unsigned flags)
{
    struct standin_context *context;
    (void)flags;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!bytes || !ret_pointer)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    uint64_t pages = standin_round_up(bytes, HOST_PAGE_BYTES);
    standin_address address = bytes > INT64_MAX ? 0 : standin_map(pages);
    if (!address)
        return standin_unlock(CUDA_ERROR_OUT_OF_MEMORY);
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_HOST,
        .address = address,
        .bytes = bytes,
        .mapped_bytes = pages,
        .ordinal = context->ordinal,
        .context = context,
    });
    *ret_pointer = (void *)(uintptr_t)address;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemAllocHost_v2, void **ret_pointer, size_t bytes)
{
    return cuMemHostAlloc(ret_pointer, bytes, 0);
}

STANDIN_ENTRY(cuMemFreeHost, void *pointer)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_at((uintptr_t)pointer);
    if (block && block->kind == STANDIN_HOST)
        standin_block_end(block);
    else if (pointer)
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemHostRegister_v2, void *pointer, size_t bytes, unsigned flags)
{
    struct standin_context *context;
    (void)flags;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!pointer || !bytes)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    if (standin_block_around((uintptr_t)pointer))
        return standin_unlock(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_REGISTERED,
        .address = (uintptr_t)pointer,
        .bytes = bytes,
        .ordinal = context->ordinal,
        .context = context,
    });
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemHostUnregister, void *pointer)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_at((uintptr_t)pointer);
    if (block && block->kind == STANDIN_REGISTERED)
        standin_block_end(block);
    else
        status = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemHostGetDevicePointer_v2, standin_address *ret_address, void *pointer,
              unsigned flags)
{
    (void)flags;
    int status = standin_lock();
    if (status)
        return status;
    if (!standin_block_around((uintptr_t)pointer))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_address = (uintptr_t)pointer;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemHostGetFlags, unsigned *ret_flags, void *pointer)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!standin_block_around((uintptr_t)pointer))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_flags = 0;
    return standin_unlock(CUDA_SUCCESS);
}
