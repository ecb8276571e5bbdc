/* turn.h: giving back a turn on a device (struct ml_session_device): by its holder,
 * and by the collector for one that has died. Others may write there what they
 * like; nothing but whose bytes are whose depends on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TURN_H
#define ML_TURN_H

#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"

#define ML_TURN_WAITED_FOR (1u << 31) /* beside a pid: somebody sleeps on `holder` */

/* Nothing, where the turn is another's. */
static inline void ml_turn_give_back(struct ml_session_device *d, uint32_t pid)
{
    uint32_t holder = atomic_load(&d->holder);

    while ((holder & ~ML_TURN_WAITED_FOR) == pid) {
        if (!atomic_compare_exchange_weak(&d->holder, &holder, 0))
            continue;
        if (holder & ML_TURN_WAITED_FOR)
            syscall(SYS_futex, &d->holder, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
}

#endif
