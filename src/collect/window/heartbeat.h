/* heartbeat.h: the sign of life by which a waiting target distinguishes a busy collector from one
 * that hangs: see `heartbeat` in ring.h. Each thread of the collector raises it where its work may
 * make targets wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEARTBEAT_H
#define ML_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

/* NULL: no target waits. Two threads may raise it at once; it must never go back to a value at
 * which a target gave up. */
static inline void ml_heartbeat_raise(_Atomic uint64_t *heartbeat)
{
    if (heartbeat)
        atomic_fetch_add_explicit(heartbeat, 1, memory_order_relaxed);
}

#endif
