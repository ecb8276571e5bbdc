/* ring_wait.h: a thread whose ring is full sleeps until the collector has made room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RING_WAIT_H
#define ML_RING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collector_watch.h"
#include "record.h"

/* One wait. Starts zeroed. */
struct ml_ring_wait {
    struct ml_collector_watch watch;
    bool begun;
    uint64_t tail;   /* the ring's tail when it last moved … */
    uint64_t rounds; /* … and the collector's rounds then */
};

/* Sleeps until half of the ring is free, for ML_LOOK_NS at most. Precondition: the ring is full,
 * and the caller has blocked signals.
 * @return whether to look for room again; false: there will be none. Changes errno. */
bool ml_ring_wait(struct ml_ring_wait *wait, struct ml_writer *w);

/* Whether the collector does not empty the ring. */
static inline bool ml_ring_is_orphaned(const struct ml_ring *ring)
{
    return atomic_load_explicit(&ring->owner, memory_order_relaxed) == ML_RING_ORPHANED;
}

#endif
