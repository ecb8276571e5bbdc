/* standin_ipc.c: memory of other processes. The bytes themselves are not shared,
 * only the books are: what is opened here costs nothing here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>

/* What a handle of 64 bytes says. */
struct ipc_handle {
    uint64_t bytes;
    char unused[56];
};

static int import(enum standin_kind kind, uint64_t bytes, standin_address *ret_address)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    uint64_t pages = standin_round_up(bytes, STANDIN_PAGE_BYTES);
    *ret_address = bytes ? standin_map(pages) : 0;
    if (!*ret_address)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    standin_block_add(&(struct standin_block){
        .kind = kind,
        .address = *ret_address,
        .bytes = bytes,
        .mapped_bytes = pages,
        .ordinal = context->ordinal,
        .context = context,
    });
    return standin_unlock(CUDA_SUCCESS);
}

static int describe(struct ipc_handle *ret_handle, standin_address address, enum standin_kind kind)
{
    int status = standin_lock();
    if (status)
        return status;
    const struct standin_block *block = standin_block_at(address);
    if (!block || block->kind != kind)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_handle = (struct ipc_handle){.bytes = block->bytes};
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuIpcGetMemHandle, struct ipc_handle *ret_handle, standin_address address)
{
    return describe(ret_handle, address, STANDIN_DEVICE);
}

STANDIN_ENTRY(cuIpcOpenMemHandle_v2, standin_address *ret_address, struct ipc_handle handle,
              unsigned flags)
{
    (void)flags;
    return import(STANDIN_IPC, handle.bytes, ret_address);
}

STANDIN_ENTRY(cuIpcCloseMemHandle, standin_address address)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_at(address);
    if (block && block->kind == STANDIN_IPC)
        standin_block_end(block);
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemPoolExportPointer, struct ipc_handle *ret_handle, standin_address address)
{
    return describe(ret_handle, address, STANDIN_POOLED);
}

STANDIN_ENTRY(cuMemPoolImportPointer, standin_address *ret_address, void *pool,
              const struct ipc_handle *handle)
{
    (void)pool;
    return import(STANDIN_IMPORTED, handle->bytes, ret_address);
}

/* ---- Memory of other interfaces -------------------------------------------------- */

struct external {
    int unused;
};

struct external_buffer {
    unsigned long long offset, bytes;
};

STANDIN_ENTRY(cuImportExternalMemory, struct external **ret_memory, const void *description)
{
    (void)description;
    *ret_memory = calloc(1, sizeof **ret_memory);
    return *ret_memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

STANDIN_ENTRY(cuExternalMemoryGetMappedBuffer, standin_address *ret_address,
              struct external *memory, const struct external_buffer *buffer)
{
    (void)memory;
    return import(STANDIN_IMPORTED, buffer->bytes, ret_address);
}

STANDIN_ENTRY(cuDestroyExternalMemory, struct external *memory)
{
    free(memory);
    return CUDA_SUCCESS;
}
