/* cuda_async.c: see cuda_async.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_async.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "cuda_book.h"
#include "cuda_driver.h"
#include "cuda_pools.h"
#include "nanoseconds.h"
#include "recorder.h"

#define STACK_EVERY_NS 2000000u

/* Saved before a call and needed after it. */
struct here {
    uint64_t context;
    uint64_t pool;
    int device; /* -1: none, nothing is entered */
    bool measured;
    bool changed; /* whether the pool changed, found out after the call */
};

static_assert(sizeof(struct here) <= sizeof(((struct ml_cuda_call *)0)->saved),
              "fits a call's saved words");

static struct here saved(const struct ml_cuda_call *call)
{
    struct here h;

    memcpy(&h, call->saved, sizeof(h));
    return h;
}

void ml_cuda_async_begin(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    struct here h = {.device = -1};
    int ordinal;

    if (ml_cuda_get_ordinal(&ordinal) && ml_cuda_get_context(&h.context)) {
        h.device = ml_cuda_device(ordinal);
        if (call->action == ML_CUDA_ALLOC_POOL)
            h.pool = call->args[2];
        else
            ml_cuda_get_pool(ordinal, &h.pool);
    }
    h.measured = h.device >= 0 && h.pool && !ml_cuda_pool_is_known(book, h.pool);
    if (h.measured && ml_recorder_is_late())
        ml_cuda_pool_adopt(book, h.pool, (unsigned)h.device);
    if (h.measured)
        ml_cuda_look(book, (unsigned)h.device);
    memcpy(call->saved, &h, sizeof(h));
}

static bool is_due(void)
{
    static __thread uint64_t last_ns;
    uint64_t now = ml_clock_ns(CLOCK_MONOTONIC_COARSE);

    if (now - last_ns < STACK_EVERY_NS)
        return false;
    last_ns = now;
    return true;
}

bool ml_cuda_async_asks(struct ml_cuda_state *book, struct ml_cuda_call *call)
{
    struct here h = saved(call);

    h.changed = ml_cuda_pool_has_changed(book, h.pool);
    memcpy(call->saved, &h, sizeof(h));
    return h.changed || is_due();
}

void ml_cuda_async_end(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                       uint32_t stack)
{
    struct here h = saved(call);
    struct ml_cuda_cause start = {ML_IN_OTHER, stack, h.context, ML_CUDA_ANY_BYTES,
                                  ML_CUDA_ANY_BYTES};
    struct ml_cuda_block block = {
        .addr = ok ? ml_cuda_out_arg(call) : 0,
        .size = call->args[1],
        .context = h.context,
        .stack = stack,
        .sort = ML_SORT_ASYNC,
        .device = (uint8_t)h.device,
    };

    if (!block.addr || h.device < 0)
        return;
    ml_cuda_open_block(book, &block);
    if (h.changed)
        ml_cuda_pool_look(book, h.pool, (unsigned)h.device, stack);
    if (h.measured)
        ml_cuda_settle(book, (unsigned)h.device, &start);
}
