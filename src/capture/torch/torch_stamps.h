/* torch_stamps.h: time stamps that keep the events of a block in order, whichever threads record
 * them, without the fence of ml_now.
 *
 * A processor may read the clock before the load is complete that hands the thread a block, and
 * the block's free would be stamped before its allocation, or the allocation of its successor
 * before the free. The fence prevents that, but stops the program for tens of nanoseconds
 * (record.h). These functions have other means. Each relies on the order of loads and stores, which
 * x86 processors keep.
 *
 * A stamp can still be early by the time for which an instruction waits in the processor, less than
 * a microsecond. The collector allows for that: it reads its clock, makes several system calls, and
 * only then looks how far each ring is filled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_STAMPS_H
#define ML_TORCH_STAMPS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "cuda_nvml.h"
#include "record.h"

/* ---- After a known stamp ----------------------------------------------------------- */

/* A stamp that is further ahead of the clock than this is an old one: stamps of a record wrap. */
#define ML_TORCH_STAMP_AHEAD_MAX (UINT64_C(1) << 24)

/* The stamp of the last record of this thread, if it has a ring. */
static ML_ALWAYS_INLINE uint64_t ml_torch_last_stamp(void)
{
    return ml_writer->busy_first >> ML_TIME_SHIFT;
}

/* How far `stamp` is ahead of `than`; very far if it is behind. */
static ML_ALWAYS_INLINE uint64_t ml_torch_stamp_ahead(uint64_t stamp, uint64_t than)
{
    return (stamp - than) << ML_TIME_SHIFT >> ML_TIME_SHIFT;
}

/* The time, or a stamp right after `last` if that is not over yet. */
static ML_ALWAYS_INLINE uint64_t ml_torch_now_after(uint64_t last)
{
    uint64_t now = ml_now_unfenced();

    return ML_LIKELY(ml_torch_stamp_ahead(last, now) > ML_TORCH_STAMP_AHEAD_MAX) ? now : last + 1;
}

/* ---- Blocks on a GPU --------------------------------------------------------------- */

/* The last stamp of each device. PyTorch reports a block while it holds the device's lock, which
 * orders the accesses. */
struct ml_torch_device_stamp {
    alignas(64) _Atomic uint64_t last;
};
extern struct ml_torch_device_stamp ml_torch_device_stamps[ML_CUDA_DEVICES_MAX];

/* The stamp for a block of the device. Precondition: the ordinal is in range. */
static ML_ALWAYS_INLINE uint64_t ml_torch_device_now(int ordinal)
{
    return ml_torch_now_after(
        atomic_load_explicit(&ml_torch_device_stamps[ordinal].last, memory_order_relaxed));
}

/* Call it after the record: the first of a thread gets a later stamp than it was given. */
static ML_ALWAYS_INLINE void ml_torch_device_stamped(int ordinal)
{
    if (ML_LIKELY(ml_writer->ring))
        atomic_store_explicit(&ml_torch_device_stamps[ordinal].last, ml_torch_last_stamp(),
                              memory_order_relaxed);
}

/* ---- Blocks on the host ------------------------------------------------------------- */

/* Which thread recorded the last event of a block: its address and the thread's number, in a place
 * that depends on the address. Another block may take the place. */
#define ML_TORCH_TOUCHED_BITS 11
#define ML_TORCH_TOUCHED_ADDRESS_BITS 48
extern _Atomic uint64_t ml_torch_touched[1u << ML_TORCH_TOUCHED_BITS];

/* Notes that this thread records an event of the block.
 * @return whether it is known to have recorded the one before: then that is in the same ring.
 * Otherwise the other thread's note was there before the block was handed over, and no thread can
 * have written what is expected here but this one. */
static ML_ALWAYS_INLINE bool ml_torch_touch(const void *block)
{
    uint64_t address = (uintptr_t)block, number = ml_writer->number;
    uint64_t mine = address | number << ML_TORCH_TOUCHED_ADDRESS_BITS;
    _Atomic uint64_t *at =
        &ml_torch_touched[address * 0x9e3779b97f4a7c15u >> (64 - ML_TORCH_TOUCHED_BITS)];

    if (ML_UNLIKELY(atomic_load_explicit(at, memory_order_relaxed) != mine)) {
        atomic_store_explicit(at, mine, memory_order_relaxed);
        return false;
    }
    return ML_LIKELY(number && !(address >> ML_TORCH_TOUCHED_ADDRESS_BITS));
}

/* The stamp for a block of the host. */
static ML_ALWAYS_INLINE uint64_t ml_torch_host_now(const void *block)
{
    /* As in ml_tsc: while no second thread records, nothing is handed over. */
    if (atomic_load_explicit(&ml_clock_fenced, memory_order_acquire) && !ml_torch_touch(block))
        return ml_now();
    return ml_now_unfenced();
}

/* ---- Any block ---------------------------------------------------------------------- */

#define ML_TORCH_HOST (-1) /* instead of a CUDA ordinal */

/* The stamp of an event of the block. Precondition: the ordinal is in range. */
static ML_ALWAYS_INLINE uint64_t ml_torch_now_for(const void *block, int ordinal)
{
    return ordinal == ML_TORCH_HOST ? ml_torch_host_now(block) : ml_torch_device_now(ordinal);
}

#endif
