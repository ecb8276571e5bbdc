/* cuda_driver.h: the book's own calls of the driver, without hooks.
 *
 * Each function returns false, and leaves its result alone, when the driver has no such function or
 * refuses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_DRIVER_H
#define ML_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* Looks all of them up, once the driver is known. Must not be called under the book's lock, because
 * a look-up takes the loader's. */
void ml_cuda_driver_learn(void);

/* The ordinal of this thread's context. */
bool ml_cuda_get_ordinal(int *ret);
bool ml_cuda_get_context(uint64_t *ret);

bool ml_cuda_get_uuid(int ordinal, uint8_t ret[16]);
bool ml_cuda_get_address_range(uint64_t addr, uint64_t *ret_bytes);
bool ml_cuda_get_primary_active(int ordinal, bool *ret);

/* Fails as long as the program has not started the driver; never starts it. */
bool ml_cuda_get_device_count(int *ret);

/* The primary context of a device, if it is active. */
bool ml_cuda_get_primary(int ordinal, uint64_t *ret);

/* Of memory by cuMemAlloc or a similar call: not managed, and not from a pool. */
bool ml_cuda_get_plain_bytes(uint64_t addr, uint64_t *ret_bytes);
bool ml_cuda_get_pointer_ordinal(uint64_t addr, int *ret);

/* The handle of virtual memory that is mapped there. */
bool ml_cuda_get_handle(uint64_t addr, uint64_t *ret);

/* The pool that cuMemAllocAsync uses, and the bytes it holds. */
bool ml_cuda_get_pool(int ordinal, uint64_t *ret);
bool ml_cuda_get_pool_reserved(uint64_t pool, uint64_t *ret);
bool ml_cuda_get_graph_reserved(int ordinal, uint64_t *ret);

#endif
