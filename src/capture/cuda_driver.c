/* cuda_driver.c: see cuda_driver.h. Types are those of the driver's binary
 * interface: devices and results are ints, contexts and pools pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_driver.h"

#include <stdatomic.h>
#include <stddef.h>

#include "cuda_call.h"

/* The driver's numbers for these attributes. */
#define POOL_RESERVED_NOW 5
#define GRAPHS_RESERVED_NOW 2

/* A word for each call site, so that the name is looked up once. */
static void *find(void *_Atomic *known, const char *name)
{
    void *function = atomic_load_explicit(known, memory_order_relaxed);

    if (!function) {
        function = ml_cuda_function(name);
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

#define FUNCTION(name, ...)                                                                        \
    static void *_Atomic known;                                                                    \
    int (*call)(__VA_ARGS__) = (int (*)(__VA_ARGS__))find(&known, name)

bool ml_cuda_get_ordinal(int *ret)
{
    FUNCTION("cuCtxGetDevice", int *);
    return call && !call(ret);
}

bool ml_cuda_get_context(uint64_t *ret)
{
    FUNCTION("cuCtxGetCurrent", uint64_t *);
    return call && !call(ret);
}

bool ml_cuda_get_uuid(int ordinal, uint8_t ret[16])
{
    FUNCTION("cuDeviceGetUuid_v2", uint8_t *, int);
    static void *_Atomic older_known;
    int (*older)(uint8_t *, int) =
        call ? NULL : (int (*)(uint8_t *, int))find(&older_known, "cuDeviceGetUuid");

    if (call)
        return !call(ret, ordinal);
    return older && !older(ret, ordinal);
}

bool ml_cuda_get_address_range(uint64_t addr, uint64_t *ret_bytes)
{
    FUNCTION("cuMemGetAddressRange_v2", uint64_t *, uint64_t *, uint64_t);
    uint64_t base;
    return call && !call(&base, ret_bytes, addr);
}

bool ml_cuda_get_primary_active(int ordinal, bool *ret)
{
    FUNCTION("cuDevicePrimaryCtxGetState", int, unsigned *, int *);
    unsigned flags;
    int active;

    if (!call || call(ordinal, &flags, &active))
        return false;
    *ret = active;
    return true;
}

bool ml_cuda_get_pool(int ordinal, uint64_t *ret)
{
    FUNCTION("cuDeviceGetMemPool", uint64_t *, int);
    return call && !call(ret, ordinal);
}

bool ml_cuda_get_pool_reserved(uint64_t pool, uint64_t *ret)
{
    FUNCTION("cuMemPoolGetAttribute", uint64_t, int, uint64_t *);
    return call && !call(pool, POOL_RESERVED_NOW, ret);
}

bool ml_cuda_get_graph_reserved(int ordinal, uint64_t *ret)
{
    FUNCTION("cuDeviceGetGraphMemAttribute", int, int, uint64_t *);
    return call && !call(ordinal, GRAPHS_RESERVED_NOW, ret);
}
