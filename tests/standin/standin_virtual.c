/* standin_virtual.c: memory without an address, and addresses without memory.
 *
 * An allocation lives while a handle or a mapping refers to it. It belongs to
 * its device, not to a context. Handles are pointers, as the real ones are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct properties {
    int type, handle_types;
    struct standin_place place;
    void *unused;
    unsigned char flags[8];
};

struct allocation {
    struct allocation *next;
    struct properties properties;
    uint64_t bytes;
    unsigned handles, mappings;
    bool charged; /* not: in host memory, or another process's */
};

struct range {
    struct range *next;
    standin_address address;
    uint64_t bytes;
};

static struct allocation *allocations;
static struct range *ranges;

static struct allocation *find(uint64_t handle)
{
    struct allocation *a = allocations;
    while (a && (uintptr_t)a != handle)
        a = a->next;
    return a && a->handles ? a : NULL;
}

static struct allocation *new_allocation(const struct properties *properties, uint64_t bytes)
{
    struct allocation *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->properties = *properties;
    a->bytes = bytes;
    a->handles = 1;
    a->next = allocations;
    allocations = a;
    return a;
}

static void end_if_unused(struct allocation *a)
{
    if (a->handles || a->mappings)
        return;
    if (a->charged)
        standin_give(a->properties.place.number, a->bytes);
    struct allocation **link = &allocations;
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    free(a);
}

void standin_mapped_end(struct standin_block *block)
{
    struct allocation *a = block->owner;
    a->mappings--;
    end_if_unused(a);
}

/* ---- Memory ------------------------------------------------------------------------ */

STANDIN_ENTRY(cuMemGetAllocationGranularity, size_t *ret_bytes, const struct properties *properties,
              int which)
{
    (void)properties;
    (void)which;
    *ret_bytes = STANDIN_PAGE_BYTES;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuMemCreate, uint64_t *ret_handle, size_t bytes, const struct properties *properties,
              unsigned long long flags)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!bytes || bytes % STANDIN_PAGE_BYTES || flags || !properties)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    bool on_device = properties->place.kind == STANDIN_ON_DEVICE;
    if (on_device && standin_nvml_number(properties->place.number) < 0)
        return standin_unlock(CUDA_ERROR_INVALID_DEVICE);
    if (on_device)
        status = standin_take(properties->place.number, bytes);
    if (status)
        return standin_unlock(status);
    struct allocation *a = new_allocation(properties, bytes);
    a->charged = on_device;
    *ret_handle = (uintptr_t)a;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemRelease, uint64_t handle)
{
    int status = standin_lock();
    if (status)
        return status;
    struct allocation *a = find(handle);
    if (!a)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    a->handles--;
    end_if_unused(a);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemRetainAllocationHandle, uint64_t *ret_handle, void *address)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_block *block = standin_block_around((uintptr_t)address);
    if (!block || block->kind != STANDIN_MAPPED)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct allocation *a = block->owner;
    a->handles++;
    *ret_handle = (uintptr_t)a;
    return standin_unlock_late(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemGetAllocationPropertiesFromHandle, struct properties *ret, uint64_t handle)
{
    int status = standin_lock();
    if (status)
        return status;
    const struct allocation *a = find(handle);
    if (a)
        *ret = a->properties;
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* ---- Between processes: a file that says what it stands for ---------------------------- */

struct shared {
    struct properties properties;
    uint64_t bytes;
};

STANDIN_ENTRY(cuMemExportToShareableHandle, int *ret_fd, uint64_t handle, int kind,
              unsigned long long flags)
{
    (void)kind;
    (void)flags;
    int status = standin_lock();
    if (status)
        return status;
    const struct allocation *a = find(handle);
    if (!a)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct shared shared = {a->properties, a->bytes};
    *ret_fd = memfd_create("standin-allocation", MFD_CLOEXEC);
    if (*ret_fd < 0 || pwrite(*ret_fd, &shared, sizeof shared, 0) != sizeof shared)
        status = CUDA_ERROR_NOT_SUPPORTED;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMemImportFromShareableHandle, uint64_t *ret_handle, void *fd, int kind)
{
    (void)kind;
    int status = standin_lock();
    if (status)
        return status;
    struct shared shared;
    if (pread((int)(intptr_t)fd, &shared, sizeof shared, 0) == sizeof shared)
        *ret_handle = (uintptr_t)new_allocation(&shared.properties, shared.bytes);
    else
        status = CUDA_ERROR_INVALID_VALUE;
    return standin_unlock(status);
}

/* ---- Addresses ------------------------------------------------------------------------- */

STANDIN_ENTRY(cuMemAddressReserve, standin_address *ret_address, size_t bytes, size_t alignment,
              standin_address wanted, unsigned long long flags)
{
    (void)alignment;
    (void)wanted;
    (void)flags;
    int status = standin_lock();
    if (status)
        return status;
    if (!bytes || bytes % STANDIN_PAGE_BYTES)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct range *range = calloc(1, sizeof *range);
    if (!range || !(range->address = standin_map(bytes))) {
        free(range);
        return standin_unlock(CUDA_ERROR_OUT_OF_MEMORY);
    }
    range->bytes = bytes;
    range->next = ranges;
    ranges = range;
    *ret_address = range->address;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemAddressFree, standin_address address, size_t bytes)
{
    int status = standin_lock();
    if (status)
        return status;
    struct range **link = &ranges;
    while (*link && ((*link)->address != address || (*link)->bytes != bytes))
        link = &(*link)->next;
    struct range *range = *link;
    if (!range)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *link = range->next;
    standin_unmap(address, bytes);
    free(range);
    return standin_unlock(CUDA_SUCCESS);
}

static bool is_reserved(standin_address address, uint64_t bytes)
{
    for (const struct range *r = ranges; r; r = r->next) {
        if (address >= r->address && address - r->address <= r->bytes &&
            bytes <= r->bytes - (address - r->address))
            return true;
    }
    return false;
}

STANDIN_ENTRY(cuMemMap, standin_address address, size_t bytes, size_t offset, uint64_t handle,
              unsigned long long flags)
{
    (void)flags;
    int status = standin_lock();
    if (status)
        return status;
    struct allocation *a = find(handle);
    if (!a || !bytes || offset > a->bytes || bytes > a->bytes - offset ||
        !is_reserved(address, bytes) || standin_block_around(address))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    a->mappings++;
    standin_block_add(&(struct standin_block){
        .kind = STANDIN_MAPPED,
        .address = address,
        .bytes = bytes,
        .ordinal = a->properties.place.number,
        .owner = a,
    });
    return standin_unlock(CUDA_SUCCESS);
}

/* The whole of one or of several mappings that lie side by side. */
STANDIN_ENTRY(cuMemUnmap, standin_address address, size_t bytes)
{
    int status = standin_lock();
    if (status)
        return status;
    standin_address end = address + bytes;
    for (standin_address at = address; at < end;) {
        const struct standin_block *block = standin_block_at(at);
        if (!block || block->kind != STANDIN_MAPPED || block->bytes > end - at)
            return standin_unlock(CUDA_ERROR_INVALID_VALUE);
        at += block->bytes;
    }
    while (address < end) {
        struct standin_block *block = standin_block_at(address);
        address += block->bytes;
        standin_block_end(block);
    }
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuMemGetAccess, unsigned long long *ret_flags, const struct standin_place *place,
              standin_address address)
{
    (void)place;
    (void)address;
    *ret_flags = 3; /* read and write */
    return CUDA_SUCCESS;
}
