/* standin_managed.c: managed memory: charged to a device when the device first writes to it or
 * it is sent there, freed when it is sent to the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#define HOST (-1) /* in place of a device's number */

STANDIN_ENTRY(cuMemAllocManaged, standin_address *ret_address, size_t bytes, unsigned flags)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!bytes || !flags || !ret_address)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    uint64_t pages = standin_round_up(bytes, STANDIN_PAGE_BYTES);
    *ret_address = standin_map(pages);
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_MANAGED,
        .address = *ret_address,
        .bytes = bytes,
        .mapped_bytes = pages,
        .ordinal = context->ordinal,
        .context = context,
    });
    return standin_unlock(CUDA_SUCCESS);
}

static void send_to_host(struct standin_block *block)
{
    standin_give(block->ordinal, block->taken_bytes);
    block->taken_bytes = 0;
}

int standin_managed_touch(struct standin_block *block, int ordinal)
{
    if (block->kind != STANDIN_MANAGED || (block->taken_bytes && block->ordinal == ordinal))
        return CUDA_SUCCESS;
    int status = standin_take(ordinal, block->mapped_bytes);
    if (status)
        return status;
    send_to_host(block);
    block->ordinal = ordinal;
    block->taken_bytes = block->mapped_bytes;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuMemPrefetchAsync, standin_address address, size_t bytes, int device, void *stream)
{
    (void)bytes;
    (void)stream;
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_around(address);
    if (!block || block->kind != STANDIN_MANAGED)
        status = CUDA_ERROR_INVALID_VALUE;
    else if (device == HOST)
        send_to_host(block);
    else if (standin_nvml_number(device) < 0)
        status = CUDA_ERROR_INVALID_DEVICE;
    else
        status = standin_managed_touch(block, device);
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemPrefetchAsync_v2, standin_address address, size_t bytes,
              struct standin_place place, unsigned flags, void *stream)
{
    (void)flags;
    return cuMemPrefetchAsync(address, bytes, place.kind == STANDIN_ON_DEVICE ? place.number : HOST,
                              stream);
}
