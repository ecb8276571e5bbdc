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
    uint64_t tail;   /* of the ring when it last moved … */
    uint64_t rounds; /* … and the collector's rounds then */
};

/* Sleeps until half of the ring is free, for the time of a look at most, with signals blocked by
 * the caller. Precondition: the ring is full.
 * @return whether to look for room again; false: nobody will make any. Changes errno. */
bool ml_ring_wait(struct ml_ring_wait *wait, struct ml_writer *w);

/* Whether nobody empties the ring. */
static inline bool ml_ring_is_orphaned(const struct ml_ring *ring)
{
    return atomic_load_explicit(&ring->owner, memory_order_relaxed) == ML_RING_ORPHANED;
}

#endif
