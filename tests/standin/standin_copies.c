/* standin_copies.c: fills and copies. They move bytes, up to a limit, so that
 * gigabytes on a device do not become gigabytes on the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <string.h>

#define MOVED_MAX (64 * STANDIN_MIB)

/* As seen on an H200: taken at a process's first fill, and kept. */
#define FIRST_FILL_BYTES (64 * STANDIN_MIB)

static bool filled[STANDIN_DEVICES_MAX];

static int charge_first_fill(int ordinal)
{
    if (filled[ordinal])
        return CUDA_SUCCESS;
    int status = standin_take(ordinal, FIRST_FILL_BYTES);
    filled[ordinal] = status == CUDA_SUCCESS;
    return status;
}

static size_t moved(uint64_t bytes)
{
    return bytes < MOVED_MAX ? bytes : MOVED_MAX;
}

/* Whether all of it lies in one block; managed memory comes to the device. */
static int use(standin_address address, uint64_t bytes, int ordinal)
{
    struct standin_block *block = standin_block_around(address);
    if (!block || bytes > block->bytes - (address - block->address))
        return CUDA_ERROR_INVALID_VALUE;
    return standin_managed_touch(block, ordinal);
}

/* ---- Fills ------------------------------------------------------------------------- */

static void write_pattern(standin_address address, uint64_t value, size_t width, uint64_t count)
{
    char *at = (char *)(uintptr_t)address;
    for (size_t i = 0; i < moved(count * width); i += width)
        memcpy(at + i, &value, width);
}

static int fill(standin_address address, uint64_t value, size_t width, uint64_t count)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!count)
        return standin_unlock(CUDA_SUCCESS);
    status = use(address, count * width, context->ordinal);
    if (status == CUDA_SUCCESS)
        status = charge_first_fill(context->ordinal);
    if (status == CUDA_SUCCESS)
        write_pattern(address, value, width, count);
    return standin_unlock(status);
}

static int fill_rows(standin_address address, size_t pitch, uint64_t value, size_t width,
                     size_t columns, size_t rows)
{
    int status = CUDA_SUCCESS;
    for (size_t row = 0; row < rows && !status; row++)
        status = fill(address + row * pitch, value, width, columns);
    return status;
}

STANDIN_ENTRY(cuMemsetD8_v2, standin_address address, unsigned char value, size_t count)
{
    return fill(address, value, 1, count);
}

STANDIN_ENTRY(cuMemsetD16_v2, standin_address address, unsigned short value, size_t count)
{
    return fill(address, value, 2, count);
}

STANDIN_ENTRY(cuMemsetD32_v2, standin_address address, unsigned value, size_t count)
{
    return fill(address, value, 4, count);
}

STANDIN_ENTRY(cuMemsetD2D8_v2, standin_address address, size_t pitch, unsigned char value,
              size_t columns, size_t rows)
{
    return fill_rows(address, pitch, value, 1, columns, rows);
}

STANDIN_ENTRY(cuMemsetD2D16_v2, standin_address address, size_t pitch, unsigned short value,
              size_t columns, size_t rows)
{
    return fill_rows(address, pitch, value, 2, columns, rows);
}

STANDIN_ENTRY(cuMemsetD2D32_v2, standin_address address, size_t pitch, unsigned value,
              size_t columns, size_t rows)
{
    return fill_rows(address, pitch, value, 4, columns, rows);
}

/* ---- Copies -------------------------------------------------------------------------- */

/* Addresses of the device are checked; 0 stands for the host's, which are not. */
static int copy(void *to, const void *from, uint64_t bytes, standin_address device_to,
                standin_address device_from)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (bytes && device_to)
        status = use(device_to, bytes, context->ordinal);
    if (bytes && device_from && !status)
        status = use(device_from, bytes, context->ordinal);
    if (!status)
        memmove(to, from, moved(bytes));
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemcpyHtoD_v2, standin_address to, const void *from, size_t bytes)
{
    return copy((void *)(uintptr_t)to, from, bytes, to, 0);
}

STANDIN_ENTRY(cuMemcpyDtoH_v2, void *to, standin_address from, size_t bytes)
{
    return copy(to, (const void *)(uintptr_t)from, bytes, 0, from);
}

STANDIN_ENTRY(cuMemcpyDtoD_v2, standin_address to, standin_address from, size_t bytes)
{
    return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, to, from);
}

/* Either side may be the host's. */
STANDIN_ENTRY(cuMemcpy, standin_address to, standin_address from, size_t bytes)
{
    return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, 0, 0);
}

STANDIN_ENTRY(cuMemcpyPeer, standin_address to, void *to_context, standin_address from,
              void *from_context, size_t bytes)
{
    (void)to_context;
    (void)from_context;
    return cuMemcpyDtoD_v2(to, from, bytes);
}
