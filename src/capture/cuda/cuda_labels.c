/* cuda_labels.c: see cuda_labels.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_labels.h"

#include <stdatomic.h>

#include "memledger/memledger.h"
#include "record.h"

#define DEPTH_MAX 8
#define ONE_CALL ((uint64_t)1 << 32)

static __thread struct {
    uint32_t label;
    uint32_t outer[DEPTH_MAX];
    unsigned depth;
} private_pool;

static __thread struct {
    uint32_t label;
    unsigned depth;
} communicator;

/* The number of threads in calls of NCCL, and in the low half the sum of their labels: that of the
 * call if there is one. Relaxed: it publishes nothing else. */
static _Atomic uint64_t in_calls;

void ml_cuda_enter_private(uint32_t label)
{
    if (private_pool.depth < DEPTH_MAX)
        private_pool.outer[private_pool.depth] = private_pool.label;
    private_pool.depth++;
    private_pool.label = label;
}

void ml_cuda_leave_private(void)
{
    if (private_pool.depth == 0)
        return;
    private_pool.depth--;
    private_pool.label =
        private_pool.depth < DEPTH_MAX ? private_pool.outer[private_pool.depth] : 0;
}

void ml_cuda_enter_communicator(uint32_t label)
{
    if (communicator.depth++)
        return;
    communicator.label = label;
    atomic_fetch_add_explicit(&in_calls, ONE_CALL + label, memory_order_relaxed);
}

void ml_cuda_leave_communicator(void)
{
    if (communicator.depth == 0 || --communicator.depth)
        return;
    atomic_fetch_sub_explicit(&in_calls, ONE_CALL + communicator.label, memory_order_relaxed);
    communicator.label = 0;
}

static uint32_t communicator_label(void)
{
    uint64_t calls = atomic_load_explicit(&in_calls, memory_order_relaxed);

    if (communicator.depth)
        return communicator.label;
    return calls >> 32 == 1 ? (uint32_t)calls : 0;
}

void ml_cuda_label(uint32_t space, uint64_t addr)
{
    uint32_t label = private_pool.label ? private_pool.label : communicator_label();

    if (label)
        ml_record_label(space, (const void *)(uintptr_t)addr, MEMLEDGER_OTHER, label);
}
