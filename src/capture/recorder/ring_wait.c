/* ring_wait.c: see ring_wait.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ring_wait.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "filtered.h"
#include "recorder.h"

/* The round that is under way when a wait begins may have passed the ring already. The next one
 * empties it. */
#define ROUNDS_MAX 3

/* Whether the collector completes rounds without emptying this ring: then it could not map the set.
 */
static bool is_left_out(struct ml_ring_wait *wait, struct ml_ring *ring)
{
    /* Pairs with the collector's increment: the tails that those rounds stored are visible. */
    uint64_t rounds = atomic_load_explicit(&ml_session->rounds, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    if (!wait->begun || tail != wait->tail) {
        wait->begun = true;
        wait->tail = tail;
        wait->rounds = rounds;
    }
    if (rounds - wait->rounds >= ROUNDS_MAX)
        atomic_store_explicit(&ring->owner, ML_RING_ORPHANED, memory_order_relaxed);
    return ml_ring_is_orphaned(ring);
}

/* Either we see the room, or the collector sees that we wait: it stores the tail, counts the round,
 * and then loads `waiting` (ml_merge_wake). */
static bool is_half_free(const struct ml_writer *w)
{
    (void)atomic_load_explicit(&ml_session->rounds, memory_order_seq_cst);
    return w->head - atomic_load_explicit(&w->ring->tail, memory_order_acquire) <=
           (w->mask + 1) / 2;
}

bool ml_ring_wait(struct ml_ring_wait *wait, struct ml_writer *w)
{
    struct timespec limit = {.tv_nsec = ML_LOOK_NS};

    if (!ml_calls_allowed() || !ml_collector_alive(&wait->watch) || is_left_out(wait, w->ring))
        return false;
    atomic_store_explicit(&w->ring->waiting, 1, memory_order_seq_cst);
    ml_ring_doorbell();
    if (!is_half_free(w))
        syscall(SYS_futex, &w->ring->waiting, FUTEX_WAIT, 1L, &limit, NULL, 0L);
    atomic_store_explicit(&w->ring->waiting, 0, memory_order_relaxed);
    return true;
}
