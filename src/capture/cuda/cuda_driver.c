/* cuda_driver.c: see cuda_driver.h. Types are those of the driver's binary
 * interface: devices and results are ints, contexts and pools pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_driver.h"

#include <stddef.h>

#include "compiler.h"
#include "cuda_call.h"

/* The driver's numbers for these attributes. */
#define POOL_RESERVED_NOW 5
#define GRAPHS_RESERVED_NOW 2
#define CAPTURE_RELAXED 2
#define POINTER_IS_MANAGED 8
#define POINTER_ORDINAL 9
#define POINTER_POOL 17

static struct {
    int (*ctx_device)(int *);
    int (*ctx_current)(uint64_t *);
    int (*uuid)(uint8_t *, int);
    int (*older_uuid)(uint8_t *, int);
    int (*address_range)(uint64_t *, uint64_t *, uint64_t);
    int (*primary_state)(int, unsigned *, int *);
    int (*mem_pool)(uint64_t *, int);
    int (*pool_attribute)(uint64_t, int, uint64_t *);
    int (*graph_attribute)(int, int, uint64_t *);
    int (*exchange_capture_mode)(int *);
    int (*device_count)(int *);
    int (*primary_retain)(uint64_t *, int);
    int (*primary_release)(int);
    int (*pointer_attribute)(void *, int, uint64_t);
    int (*retain_handle)(uint64_t *, uint64_t);
    int (*release_handle)(uint64_t);
} driver;

static const struct {
    const char *name;
    void **at;
} functions[] = {
    {"cuCtxGetDevice", (void **)&driver.ctx_device},
    {"cuCtxGetCurrent", (void **)&driver.ctx_current},
    {"cuDeviceGetUuid_v2", (void **)&driver.uuid},
    {"cuDeviceGetUuid", (void **)&driver.older_uuid},
    {"cuMemGetAddressRange_v2", (void **)&driver.address_range},
    {"cuDevicePrimaryCtxGetState", (void **)&driver.primary_state},
    {"cuDeviceGetMemPool", (void **)&driver.mem_pool},
    {"cuMemPoolGetAttribute", (void **)&driver.pool_attribute},
    {"cuDeviceGetGraphMemAttribute", (void **)&driver.graph_attribute},
    {"cuThreadExchangeStreamCaptureMode", (void **)&driver.exchange_capture_mode},
    {"cuDeviceGetCount", (void **)&driver.device_count},
    {"cuDevicePrimaryCtxRetain", (void **)&driver.primary_retain},
    {"cuDevicePrimaryCtxRelease_v2", (void **)&driver.primary_release},
    {"cuPointerGetAttribute", (void **)&driver.pointer_attribute},
    {"cuMemRetainAllocationHandle", (void **)&driver.retain_handle},
    {"cuMemRelease", (void **)&driver.release_handle},
};

/* Concurrent threads find the same. */
void ml_cuda_driver_learn(void)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(functions); i++)
        __atomic_store_n(functions[i].at, ml_cuda_function(functions[i].name), __ATOMIC_RELAXED);
}

bool ml_cuda_get_ordinal(int *ret)
{
    return driver.ctx_device && !driver.ctx_device(ret);
}

bool ml_cuda_get_context(uint64_t *ret)
{
    return driver.ctx_current && !driver.ctx_current(ret);
}

bool ml_cuda_get_uuid(int ordinal, uint8_t ret[16])
{
    if (driver.uuid)
        return !driver.uuid(ret, ordinal);
    return driver.older_uuid && !driver.older_uuid(ret, ordinal);
}

bool ml_cuda_get_address_range(uint64_t addr, uint64_t *ret_bytes)
{
    uint64_t base;

    return driver.address_range && !driver.address_range(&base, ret_bytes, addr);
}

bool ml_cuda_get_primary_active(int ordinal, bool *ret)
{
    unsigned flags;
    int active;

    if (!driver.primary_state || driver.primary_state(ordinal, &flags, &active))
        return false;
    *ret = active;
    return true;
}

bool ml_cuda_get_device_count(int *ret)
{
    return driver.device_count && !driver.device_count(ret);
}

bool ml_cuda_get_primary(int ordinal, uint64_t *ret)
{
    bool active;

    return driver.primary_retain && driver.primary_release &&
           ml_cuda_get_primary_active(ordinal, &active) && active &&
           !driver.primary_retain(ret, ordinal) && !driver.primary_release(ordinal);
}

static uint64_t attribute(uint64_t addr, int which)
{
    uint64_t value = 0;

    return driver.pointer_attribute && !driver.pointer_attribute(&value, which, addr) ? value : 0;
}

bool ml_cuda_get_plain_bytes(uint64_t addr, uint64_t *ret_bytes)
{
    return !((uint32_t)attribute(addr, POINTER_IS_MANAGED) & 1) && !attribute(addr, POINTER_POOL) &&
           ml_cuda_get_address_range(addr, ret_bytes);
}

bool ml_cuda_get_pointer_ordinal(uint64_t addr, int *ret)
{
    return driver.pointer_attribute && !driver.pointer_attribute(ret, POINTER_ORDINAL, addr);
}

bool ml_cuda_get_handle(uint64_t addr, uint64_t *ret)
{
    return driver.retain_handle && driver.release_handle && !driver.retain_handle(ret, addr) &&
           !driver.release_handle(*ret);
}

bool ml_cuda_get_pool(int ordinal, uint64_t *ret)
{
    return driver.mem_pool && !driver.mem_pool(ret, ordinal);
}

/* While a stream is being captured, the driver considers this query unsafe and ends the capture,
 * unless the thread has selected the relaxed mode. */
bool ml_cuda_get_pool_reserved(uint64_t pool, uint64_t *ret)
{
    int mode = CAPTURE_RELAXED;
    bool relaxed = driver.exchange_capture_mode && !driver.exchange_capture_mode(&mode);
    bool ok = driver.pool_attribute && !driver.pool_attribute(pool, POOL_RESERVED_NOW, ret);

    if (relaxed)
        driver.exchange_capture_mode(&mode);
    return ok;
}

bool ml_cuda_get_graph_reserved(int ordinal, uint64_t *ret)
{
    return driver.graph_attribute && !driver.graph_attribute(ordinal, GRAPHS_RESERVED_NOW, ret);
}
