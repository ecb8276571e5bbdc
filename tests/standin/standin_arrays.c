/* standin_arrays.c: arrays and mipmaps, each with its own pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>

/* Arrays that get their memory from cuMemCreate. */
#define SPARSE 0x40u
#define DEFERRED 0x80u

struct flat_descriptor {
    size_t width, height;
    int format;
    unsigned channels;
};

struct descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

struct array {
    struct descriptor descriptor;
    standin_address address; /* of its memory; 0: has none */
    bool part_of_mipmap;
};

#define LEVELS_MAX 16

struct mipmap {
    struct array levels[LEVELS_MAX];
    unsigned level_count;
    standin_address address;
};

static size_t element_bytes(int format)
{
    switch (format) {
    case 0x02: /* 16 bits: unsigned, signed, floating */
    case 0x09:
    case 0x10: return 2;
    case 0x03: /* 32 bits */
    case 0x0a:
    case 0x20: return 4;
    default: return 1;
    }
}

static uint64_t array_bytes(const struct descriptor *d)
{
    size_t height = d->height ? d->height : 1, depth = d->depth ? d->depth : 1;
    return (uint64_t)d->width * height * depth * d->channels * element_bytes(d->format);
}

static int take_memory(struct standin_context *context, const struct descriptor *d, uint64_t bytes,
                       standin_address *ret_address)
{
    *ret_address = 0;
    if (d->flags & (SPARSE | DEFERRED))
        return CUDA_SUCCESS;
    return standin_pages_alloc(context, STANDIN_ARRAY, bytes, ret_address);
}

static void give_memory(standin_address address)
{
    struct standin_block *block = standin_block_at(address);
    if (block)
        standin_block_end(block);
}

STANDIN_ENTRY(cuArray3DCreate_v2, struct array **ret_array, const struct descriptor *descriptor)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!ret_array || !descriptor || !array_bytes(descriptor))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct array *array = calloc(1, sizeof *array);
    if (!array)
        abort();
    array->descriptor = *descriptor;
    status = take_memory(context, descriptor, array_bytes(descriptor), &array->address);
    if (status)
        free(array);
    else
        *ret_array = array;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuArrayCreate_v2, struct array **ret_array, const struct flat_descriptor *flat)
{
    struct descriptor descriptor = {flat->width, flat->height, 0, flat->format, flat->channels, 0};
    return cuArray3DCreate_v2(ret_array, &descriptor);
}

STANDIN_ENTRY(cuArrayDestroy, struct array *array)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!array || array->part_of_mipmap)
        return standin_unlock(CUDA_ERROR_INVALID_HANDLE);
    give_memory(array->address);
    free(array);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuArray3DGetDescriptor_v2, struct descriptor *ret, const struct array *array)
{
    *ret = array->descriptor;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuArrayGetDescriptor_v2, struct flat_descriptor *ret, const struct array *array)
{
    const struct descriptor *d = &array->descriptor;
    *ret = (struct flat_descriptor){d->width, d->height, d->format, d->channels};
    return CUDA_SUCCESS;
}

struct requirements {
    size_t bytes, alignment;
    unsigned reserved[4];
};

/* As the real one: only arrays that wait for their memory can be asked. */
STANDIN_ENTRY(cuArrayGetMemoryRequirements, struct requirements *ret, const struct array *array,
              int device)
{
    (void)device;
    if (!(array->descriptor.flags & DEFERRED))
        return CUDA_ERROR_INVALID_VALUE;
    ret->bytes = standin_round_up(array_bytes(&array->descriptor), STANDIN_PAGE_BYTES);
    ret->alignment = STANDIN_PAGE_BYTES;
    return CUDA_SUCCESS;
}

/* ---- Mipmaps ------------------------------------------------------------------- */

static size_t half(size_t n)
{
    return n > 1 ? n / 2 : n;
}

static uint64_t fill_levels(struct mipmap *mipmap, struct descriptor d)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < mipmap->level_count; i++) {
        mipmap->levels[i] = (struct array){.descriptor = d, .part_of_mipmap = true};
        bytes += array_bytes(&d);
        d.width = half(d.width);
        d.height = half(d.height);
        d.depth = half(d.depth);
    }
    return bytes;
}

STANDIN_ENTRY(cuMipmappedArrayCreate, struct mipmap **ret_mipmap,
              const struct descriptor *descriptor, unsigned levels)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!levels || levels > LEVELS_MAX || !array_bytes(descriptor))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    struct mipmap *mipmap = calloc(1, sizeof *mipmap);
    if (!mipmap)
        abort();
    mipmap->level_count = levels;
    uint64_t bytes = fill_levels(mipmap, *descriptor);
    status = take_memory(context, descriptor, bytes, &mipmap->address);
    if (status)
        free(mipmap);
    else
        *ret_mipmap = mipmap;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuMipmappedArrayGetLevel, struct array **ret_array, struct mipmap *mipmap,
              unsigned level)
{
    if (level >= mipmap->level_count)
        return CUDA_ERROR_INVALID_VALUE;
    *ret_array = &mipmap->levels[level];
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuMipmappedArrayDestroy, struct mipmap *mipmap)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!mipmap)
        return standin_unlock(CUDA_ERROR_INVALID_HANDLE);
    give_memory(mipmap->address);
    free(mipmap);
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- Ways to look at them: textures and surfaces -------------------------------- */

STANDIN_ENTRY(cuTexObjectCreate, uint64_t *ret_object)
{
    static uint64_t last;
    int status = standin_lock();
    if (status)
        return status;
    *ret_object = ++last;
    return standin_unlock(CUDA_SUCCESS);
}
