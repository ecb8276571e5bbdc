/* cuda_places.c: see cuda_places.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_places.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "compiler.h"
#include "cuda_driver.h"
#include "cuda_nvml.h"
#include "cuda_spaces.h"
#include "memledger/memledger.h"
#include "names.h"

static const struct {
    const char *device; /* NULL: each has its own */
    uint32_t level;
    const char *name;
} spaces[ML_CUDA_SPACES] = {
    [ML_IN_MEMORY] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_MEMORY},
    [ML_IN_VIRTUAL] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_VIRTUAL},
    [ML_IN_ARRAYS] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_ARRAYS},
    [ML_IN_POOLS] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_POOLS},
    [ML_IN_GRAPHS] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_GRAPHS},
    [ML_IN_CONTEXT] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_CONTEXT},
    [ML_IN_MODULES] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_MODULES},
    [ML_IN_LIMITS] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_LIMITS},
    [ML_IN_ROUNDING] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_ROUNDING},
    [ML_IN_OTHER] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_OTHER},
    [ML_IN_BEFORE] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_BEFORE},
    [ML_IN_BEFORE_ALL] = {NULL, MEMLEDGER_DRIVER, ML_CUDA_BEFORE_ALL},
    [ML_IN_ASYNC] = {NULL, MEMLEDGER_BLOCK, ML_CUDA_ASYNC},
    [ML_IN_PINNED] = {"cpu", MEMLEDGER_BLOCK, ML_CUDA_PINNED},
    [ML_IN_REGISTERED] = {"cpu", MEMLEDGER_BLOCK, ML_CUDA_REGISTERED},
    [ML_IN_MANAGED] = {ML_CUDA_MANAGED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_MANAGED},
    [ML_IN_IMPORTED] = {ML_CUDA_IMPORTED_DEVICE, MEMLEDGER_DRIVER, ML_CUDA_IMPORTED},
};

/* The numbers stay valid in a forked child, as the names do. */
static _Atomic uint32_t numbers[ML_CUDA_DEVICES_MAX][ML_CUDA_SPACES];
static _Atomic uint32_t names[ML_CUDA_DEVICES_MAX];
/* By CUDA ordinal: the device + 1, 0: not looked up yet. */
static _Atomic int known[ML_CUDA_DEVICES_MAX];

/* A device that NVML does not list, such as a part of one (MIG), has no readings: it is numbered
 * after those that have. */
static int find_device(int ordinal)
{
    unsigned listed = ml_cuda_nvml_count();
    uint8_t uuid[16];
    int found;

    if (!ml_cuda_get_uuid(ordinal, uuid))
        return -1;
    found = ml_cuda_nvml_find(uuid);
    if (found < 0)
        found = (int)listed + ordinal;
    return found < ML_CUDA_DEVICES_MAX ? found : -1;
}

int ml_cuda_device(int ordinal)
{
    int device;

    if (ordinal < 0 || ordinal >= ML_CUDA_DEVICES_MAX)
        return -1;
    device = atomic_load_explicit(&known[ordinal], memory_order_relaxed);
    if (device)
        return device - 1;
    device = find_device(ordinal);
    if (ml_cuda_nvml_is_settled())
        atomic_store_explicit(&known[ordinal], device + 1, memory_order_relaxed);
    return device;
}

int ml_cuda_current_device(void)
{
    int ordinal;

    return ml_cuda_get_ordinal(&ordinal) ? ml_cuda_device(ordinal) : -1;
}

uint64_t ml_cuda_current_context(void)
{
    uint64_t context;

    return ml_cuda_get_context(&context) ? context : 0;
}

static void device_text(unsigned device, char text[16])
{
    snprintf(text, 16, "cuda:%u", device);
}

uint32_t ml_cuda_device_name(unsigned device)
{
    uint32_t number = atomic_load_explicit(&names[device], memory_order_relaxed);
    char text[16];

    if (number)
        return number;
    device_text(device, text);
    number = ml_name_kept(text);
    atomic_store_explicit(&names[device], number, memory_order_relaxed);
    return number;
}

uint32_t ml_cuda_space(unsigned device, enum ml_cuda_space space)
{
    uint32_t number = atomic_load_explicit(&numbers[device][space], memory_order_relaxed);
    char text[16];

    if (ML_LIKELY(number))
        return number;
    device_text(device, text);
    number = ml_space_number(spaces[space].device ? spaces[space].device : text,
                             spaces[space].level, spaces[space].name);
    atomic_store_explicit(&numbers[device][space], number, memory_order_relaxed);
    return number;
}

uint32_t ml_cuda_block_space(unsigned device, const char *name)
{
    char text[16];

    device_text(device, text);
    return ml_space_number(text, MEMLEDGER_BLOCK, name);
}
