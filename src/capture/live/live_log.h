/* live_log.h: the blocks of one backward pass in the order of their allocations and frees, and on
 * request the allocations of forward passes.
 *
 * Which blocks of a backward pass are gradients of parameters is known only when the pass is over;
 * with the log the exact peak of the others can be computed then. Python takes the allocations of
 * forward at the boundaries of layers, so that each has its layer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIVE_LOG_H
#define ML_LIVE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bit for each phase that is logged. */
extern _Atomic uint32_t ml_live_log_on;

void ml_live_log_slow(unsigned phase, unsigned device, uint64_t address, int64_t bytes);

/* A block of that phase was allocated (bytes > 0) or freed. */
static inline void ml_live_log(unsigned phase, unsigned device, uint64_t address, int64_t bytes)
{
    if (atomic_load_explicit(&ml_live_log_on, memory_order_relaxed) >> phase & 1)
        ml_live_log_slow(phase, device, address, bytes);
}

/* Begins a new log of backward. */
void ml_live_log_begin(void);

/* Ends it.
 * @devices    a bit for each device that counts
 * @others     sorted addresses of live blocks that do not count; each one's
 *             lowest bit is used up
 * @ret        the most bytes at one time in blocks that do count
 * @return false: the log was not begun, or there were too many events to keep */
bool ml_live_log_end(uint64_t devices, uint64_t *others, size_t count, uint64_t *ret);

/* Logs forward too, also during a log of backward: recomputed blocks. Or no longer. */
void ml_live_log_forward(bool on);

/* Takes the addresses of blocks that forward has allocated since the last call, oldest first.
 * @return how many; `max`: there may be more */
size_t ml_live_log_take(uint64_t *addresses, size_t max);

/* The lock of the functions below, in memory that a forked child sees cleared. */
struct ml_fork_lock;
void ml_live_log_init(struct ml_fork_lock *lock);

/* Whether this thread is in the log. If a signal handler left it by longjmp, it becomes free
 * again. */
bool ml_live_log_is_inside(void);

/* Called by a thread that forks. */
void ml_live_log_before_fork(void);
void ml_live_log_after_fork(void);

#endif
