/* torch_hooks.c: PyTorch's allocators, of the host and of CUDA.
 *
 * Host. The CPU allocator allocates each block with c10::alloc_cpu and frees it with c10::free_cpu,
 * which PyTorch calls by name. As with malloc, an allocation is recorded after the real call and a
 * free before it. PyTorch's reports to its profiler contain the same, but only while
 * c10::memoryProfilingEnabled() is true: a false answer would make PyTorch keep a table of all
 * blocks behind a lock, and put frees of older blocks into torch.profiler's results.
 *
 * CUDA. The caching allocator reports each block to the profiler, whether there is one or not: with
 * its rounded size, after the block was taken from a segment, and negative after it was freed. All
 * of this happens under one lock of the allocator per device, so the report of a free, though it
 * comes after the block went back to its pool, comes before the block can be allocated again. A
 * block that other streams still use is reported as freed when its tensor is freed, as
 * torch.cuda.memory_allocated() counts; it is reused later.
 *
 * A block has the stack of its caller if `memledger run --stacks` asks for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live_blocks.h"
#include "record.h"
#include "torch_helpers.h"
#include "torch_hook.h"
#include "recorder.h"
#include "stack_wanted.h"
#include "torch_real.h"
#include "torch_recent.h"
#include "torch_scopes.h"
#include "torch_spaces.h"
#include "torch_stamps.h"
#include "torch_types.h"
#include "torch_watch.h"

/* c10::Device, which is passed in one register, and the number of CUDA's type. */
struct device {
    int8_t type;
    int8_t index;
};
#define DEVICE_CUDA 1

typedef void *alloc_function(size_t bytes);
typedef void free_function(void *p);
typedef bool profiling_function(void);
typedef void report_function(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved,
                             struct device device);
typedef void report_oom_function(int64_t bytes, uint64_t allocated, uint64_t reserved,
                                 struct device device);

/* One type for each role, in all versions of PyTorch. */
typedef report_function report_torch_1_function;
typedef report_oom_function report_oom_torch_1_function;
typedef alloc_function alloc_cpu_function;
typedef free_function free_cpu_function;

ML_TORCH_C10_ENTRIES(ML_TORCH_DECLARE_HOOK)

/* ---- Blocks -------------------------------------------------------------------- */

static ML_NOINLINE void record_with_stack(uint32_t space, const void *p, uint64_t bytes,
                                          int ordinal)
{
    uint32_t stack = ml_stack_wanted();
    uint64_t now = ml_torch_now_for(p, ordinal);

    if (stack)
        ml_record_alloc_stack_at(now, space, (uintptr_t)p, bytes, stack);
    else
        ml_record_alloc_at(now, space, p, bytes);
}

static ML_ALWAYS_INLINE void record_block(uint32_t space, const void *p, uint64_t bytes,
                                          int ordinal)
{
    ml_torch_note_function();
    ml_torch_note_type(bytes);
    if (ML_UNLIKELY(ml_stacks_mode))
        record_with_stack(space, p, bytes, ordinal);
    else
        ml_record_alloc_at(ml_torch_now_for(p, ordinal), space, p, bytes);
}

static void record_oom(uint32_t space, uint64_t bytes, uint32_t stack)
{
    if (space)
        ml_record_oom(space, bytes, stack);
}

/* ---- The table of live blocks, when it is on --------------------------------------- */

static ML_ALWAYS_INLINE void book_alloc(uint32_t space, unsigned device, const void *p,
                                        uint64_t bytes)
{
    if (ML_UNLIKELY(atomic_load_explicit(&ml_live_on, memory_order_acquire)))
        ml_live_add(space, device, p, bytes);
}

#define CURRENT_RECORDING UINT32_MAX /* the recording is under way */

/* @return the recording that the free belongs to */
static ML_ALWAYS_INLINE uint32_t book_free(const void *p)
{
    if (ML_LIKELY(!atomic_load_explicit(&ml_live_on, memory_order_acquire)))
        return CURRENT_RECORDING;
    return ml_live_remove(p);
}

static ML_ALWAYS_INLINE void record_free(uint32_t recording, uint32_t space, const void *p,
                                         int ordinal)
{
    if (ML_UNLIKELY(!space || !recording))
        return;
    if (ML_LIKELY(recording == CURRENT_RECORDING))
        ml_record_free_at(ml_torch_now_for(p, ordinal), space, p);
    else
        ml_record_free_in_at(ml_torch_now_for(p, ordinal), recording, space, p);
    if (ordinal != ML_TORCH_HOST)
        ml_torch_device_stamped(ordinal);
}

/* ---- Host ---------------------------------------------------------------------- */

/* The size that this thread passed to alloc_cpu while that has not returned. When memory runs out,
 * alloc_cpu throws, and an exception passes through here unseen; the allocator then asks whether to
 * report it to the profiler. */
static __thread size_t requested_bytes;

/* A negative number of bytes is refused in the same way, and is not a lack of memory. */
static ML_NOINLINE void note_oom(uint32_t stack)
{
    if (requested_bytes <= PTRDIFF_MAX)
        record_oom(ml_torch_cpu_space(), requested_bytes, stack);
    requested_bytes = 0;
}

void *alloc_cpu(size_t bytes)
{
    void *p;
    uint32_t space;

    if (ML_UNLIKELY(requested_bytes))
        note_oom(0); /* the caller's stack is gone */
    requested_bytes = bytes;
    p = ML_TORCH_REAL(alloc_cpu)(bytes);
    requested_bytes = 0;
    space = ml_torch_cpu_space();
    if (ML_LIKELY(space && p)) {
        bool may_help = !ml_torch_was_in_scope();
        if (ML_UNLIKELY(may_help))
            ml_torch_before_help();
        record_block(space, p, bytes, ML_TORCH_HOST);
        if (ML_UNLIKELY(may_help))
            ml_torch_after_help(space, p);
    }
    if (ML_LIKELY(p)) {
        book_alloc(space, ML_LIVE_HOST, p, bytes);
        ml_torch_watch_alloc(p, bytes, ML_TORCH_HOST);
    }
    return p;
}

void free_cpu(void *p)
{
    /* Opens the space last: a recording may begin during the update of the table. */
    if (ML_LIKELY(p)) {
        uint32_t recording = book_free(p);
        record_free(recording, ml_torch_cpu_space(), p, ML_TORCH_HOST);
    }
    ML_TORCH_REAL(free_cpu)(p);
}

bool profiling(void)
{
    if (ML_UNLIKELY(requested_bytes))
        note_oom(ml_stack_wanted());
    return ML_TORCH_REAL(profiling)();
}

/* ---- CUDA ---------------------------------------------------------------------- */

/* Reports for the host concern blocks that alloc_cpu has recorded already, or mapped files and
 * shared memory, whose end is never reported. */
static ML_ALWAYS_INLINE void record_report(const void *p, int64_t bytes, struct device device)
{
    bool is_cuda =
        device.type == DEVICE_CUDA && device.index >= 0 && device.index < ML_CUDA_DEVICES_MAX;
    bool is_free = bytes <= 0;
    uint32_t recording, space;

    if (!is_cuda || !p)
        return;
    recording = is_free ? book_free(p) : CURRENT_RECORDING;
    space = ml_torch_cuda_space(device.index);
    if (is_free) {
        record_free(recording, space, p, device.index);
        return;
    }
    if (ML_LIKELY(space)) {
        record_block(space, p, (uint64_t)bytes, device.index);
        ml_torch_device_stamped(device.index);
        ml_torch_remember(space, p);
    }
    book_alloc(space, ML_LIVE_CUDA(device.index), p, (uint64_t)bytes);
    ml_torch_watch_alloc(p, (uint64_t)bytes, device.index);
}

void report(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved, struct device device)
{
    record_report(p, bytes, device);
    ML_TORCH_REAL(report)(p, bytes, allocated, reserved, device);
}

void report_torch_1(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved,
                    struct device device)
{
    record_report(p, bytes, device);
    ML_TORCH_REAL(report_torch_1)(p, bytes, allocated, reserved, device);
}

static void record_reported_oom(int64_t bytes, struct device device)
{
    if (device.type == DEVICE_CUDA)
        record_oom(ml_torch_cuda_space(device.index), (uint64_t)bytes, ml_stack_wanted());
}

void report_oom(int64_t bytes, uint64_t allocated, uint64_t reserved, struct device device)
{
    record_reported_oom(bytes, device);
    ML_TORCH_REAL(report_oom)(bytes, allocated, reserved, device);
}

void report_oom_torch_1(int64_t bytes, uint64_t allocated, uint64_t reserved, struct device device)
{
    record_reported_oom(bytes, device);
    ML_TORCH_REAL(report_oom_torch_1)(bytes, allocated, reserved, device);
}
