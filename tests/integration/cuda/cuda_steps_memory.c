/* cuda_steps_memory.c: the steps that allocate and free memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_steps.h"

#include <stdlib.h>
#include <string.h>

#define ON_DEVICE 1
#define PINNED 1
#define READ_WRITE 3

static void made(struct step *step, cuda_address address, uint64_t bytes, void *handle)
{
    step->makes = true;
    step->made = (struct step_object){.address = address, .bytes = bytes, .handle = handle};
}

static struct cuda_place current_place(void)
{
    struct cuda_place place = {.kind = ON_DEVICE};
    cuda.cuCtxGetDevice(&place.number);
    return place;
}

static cuda_address address_of(const struct step *step)
{
    return step_object(step->args[0])->address;
}

/* ---- alloc:BYTES pitch:WIDTH:ROWS managed:BYTES free:ID free-at:ADDRESS --------------- */

static int alloc(struct step *step)
{
    cuda_address address = 0;
    int result = cuda.cuMemAlloc(&address, step->args[0]);
    made(step, address, step->args[0], NULL);
    return result;
}

static int alloc_pitch(struct step *step)
{
    cuda_address address = 0;
    size_t pitch = 0;
    int result = cuda.cuMemAllocPitch(&address, &pitch, step->args[0], step->args[1], 4);
    made(step, address, pitch * step->args[1], NULL);
    return result;
}

static int alloc_managed(struct step *step)
{
    cuda_address address = 0;
    int result = cuda.cuMemAllocManaged(&address, step->args[0], 1);
    made(step, address, step->args[0], NULL);
    return result;
}

static int free_block(struct step *step)
{
    return cuda.cuMemFree(address_of(step));
}

static int free_at(struct step *step)
{
    return cuda.cuMemFree(step->args[0]);
}

/* ---- host:BYTES alloc-host:BYTES free-host:ID register:BYTES unregister:ID --------------- */

static int host(struct step *step)
{
    void *pointer = NULL;
    int result = cuda.cuMemHostAlloc(&pointer, step->args[0], 0);
    made(step, (uintptr_t)pointer, step->args[0], NULL);
    return result;
}

static int alloc_host(struct step *step)
{
    void *pointer = NULL;
    int result = cuda.cuMemAllocHost(&pointer, step->args[0]);
    made(step, (uintptr_t)pointer, step->args[0], NULL);
    return result;
}

static int free_host(struct step *step)
{
    return cuda.cuMemFreeHost((void *)(uintptr_t)address_of(step));
}

static int register_host(struct step *step)
{
    void *pointer = aligned_alloc(4096, (step->args[0] + 4095) / 4096 * 4096);
    made(step, (uintptr_t)pointer, step->args[0], NULL);
    return cuda.cuMemHostRegister(pointer, step->args[0], 0);
}

/* The memory itself stays: a second unregister must not crash the program. */
static int unregister_host(struct step *step)
{
    return cuda.cuMemHostUnregister((void *)(uintptr_t)address_of(step));
}

/* ---- async:BYTES[:STREAM] from-pool:BYTES:POOL[:STREAM] free-async:ID[:STREAM] ------------- */

static int alloc_async(struct step *step)
{
    cuda_address address = 0;
    int result = cuda.cuMemAllocAsync(&address, step->args[0], step_handle(step, 1));
    made(step, address, step->args[0], NULL);
    return result;
}

static int alloc_from_pool(struct step *step)
{
    cuda_address address = 0;
    int result = cuda.cuMemAllocFromPoolAsync(&address, step->args[0], step_handle(step, 1),
                                              step_handle(step, 2));
    made(step, address, step->args[0], NULL);
    return result;
}

static int free_async(struct step *step)
{
    return cuda.cuMemFreeAsync(address_of(step), step_handle(step, 1));
}

/* ---- pool pool-end:ID pool-trim:ID[:KEEP] threshold:BYTES[:ID] --------------------------------
 */

static int pool(struct step *step)
{
    void *handle = NULL;
    struct cuda_pool_properties properties = {.type = PINNED, .place = current_place()};
    int result = cuda.cuMemPoolCreate(&handle, &properties);
    made(step, (uintptr_t)handle, 0, handle);
    return result;
}

static int pool_end(struct step *step)
{
    return cuda.cuMemPoolDestroy(step_handle(step, 0));
}

static int pool_trim(struct step *step)
{
    return cuda.cuMemPoolTrimTo(step_handle(step, 0), step->args[1]);
}

/* Of the device's default pool when no other is named. */
static int threshold(struct step *step)
{
    void *handle = step_handle(step, 1);
    uint64_t bytes = step->args[0];
    if (!handle)
        cuda.cuDeviceGetDefaultMemPool(&handle, current_place().number);
    return cuda.cuMemPoolSetAttribute(handle, 4, &bytes);
}

/* ---- create:BYTES drop:ID retain-handle:RANGE reserve:BYTES unreserve:ID ------------------------
 * ---- map:RANGE:HANDLE[:OFFSET] unmap:RANGE:BYTES[:OFFSET] (offsets in the range) --------------
 */

static int create(struct step *step)
{
    uint64_t handle = 0;
    struct cuda_allocation_properties properties = {.type = PINNED, .place = current_place()};
    int result = cuda.cuMemCreate(&handle, step->args[0], &properties, 0);
    made(step, handle, step->args[0], NULL);
    return result;
}

static int drop(struct step *step)
{
    return cuda.cuMemRelease(address_of(step));
}

static int retain_handle(struct step *step)
{
    uint64_t handle = 0;
    int result = cuda.cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)address_of(step));
    made(step, handle, 0, NULL);
    return result;
}

static int reserve(struct step *step)
{
    cuda_address address = 0;
    int result = cuda.cuMemAddressReserve(&address, step->args[0], 0, 0, 0);
    made(step, address, step->args[0], NULL);
    return result;
}

static int unreserve(struct step *step)
{
    const struct step_object *range = step_object(step->args[0]);
    return cuda.cuMemAddressFree(range->address, range->bytes);
}

static int map(struct step *step)
{
    const struct step_object *allocation = step_object(step->args[1]);
    cuda_address address = address_of(step) + step->args[2];
    struct cuda_access access = {.place = current_place(), .flags = READ_WRITE};
    int result = cuda.cuMemMap(address, allocation->bytes, 0, allocation->address, 0);
    if (result)
        return result;
    return cuda.cuMemSetAccess(address, allocation->bytes, &access, 1);
}

static int unmap(struct step *step)
{
    return cuda.cuMemUnmap(address_of(step) + step->args[2], step->args[1]);
}

/* ---- array:WIDTH:HEIGHT array-end:ID mipmap:WIDTH:HEIGHT:LEVELS mipmap-end:ID (of floats) ------
 */

static struct cuda_array_descriptor shape(const struct step *step)
{
    return (struct cuda_array_descriptor){
        .width = step->args[0], .height = step->args[1], .format = 0x20, .channels = 1};
}

static int array(struct step *step)
{
    void *handle = NULL;
    struct cuda_array_descriptor descriptor = shape(step);
    int result = cuda.cuArray3DCreate(&handle, &descriptor);
    made(step, (uintptr_t)handle, step->args[0] * step->args[1] * 4, handle);
    return result;
}

static int array_end(struct step *step)
{
    return cuda.cuArrayDestroy(step_handle(step, 0));
}

static int mipmap(struct step *step)
{
    void *handle = NULL;
    struct cuda_array_descriptor descriptor = shape(step);
    int result = cuda.cuMipmappedArrayCreate(&handle, &descriptor, (unsigned)step->args[2]);
    made(step, (uintptr_t)handle, step->args[0] * step->args[1] * 4, handle);
    return result;
}

static int mipmap_end(struct step *step)
{
    return cuda.cuMipmappedArrayDestroy(step_handle(step, 0));
}

/* ---- ipc-open:ID ipc-close:ID -------------------------------------------------------------------
 */

/* A real driver refuses to open a process's own memory; the stand-in does not. */
static int ipc_open(struct step *step)
{
    struct cuda_ipc_handle handle;
    cuda_address address = 0;
    int result = cuda.cuIpcGetMemHandle(&handle, address_of(step));
    if (result == 0)
        result = cuda.cuIpcOpenMemHandle(&address, handle, 1);
    made(step, address, step_object(step->args[0])->bytes, NULL);
    return result;
}

static int ipc_close(struct step *step)
{
    return cuda.cuIpcCloseMemHandle(address_of(step));
}

const struct step_verb memory_verbs[] = {
    {"alloc", alloc},
    {"pitch", alloc_pitch},
    {"managed", alloc_managed},
    {"free", free_block},
    {"free-at", free_at},
    {"host", host},
    {"alloc-host", alloc_host},
    {"free-host", free_host},
    {"register", register_host},
    {"unregister", unregister_host},
    {"async", alloc_async},
    {"from-pool", alloc_from_pool},
    {"free-async", free_async},
    {"pool", pool},
    {"pool-end", pool_end},
    {"pool-trim", pool_trim},
    {"threshold", threshold},
    {"create", create},
    {"drop", drop},
    {"retain-handle", retain_handle},
    {"reserve", reserve},
    {"unreserve", unreserve},
    {"map", map},
    {"unmap", unmap},
    {"array", array},
    {"array-end", array_end},
    {"mipmap", mipmap},
    {"mipmap-end", mipmap_end},
    {"ipc-open", ipc_open},
    {"ipc-close", ipc_close},
    {NULL, NULL},
};
