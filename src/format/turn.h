/* turn.h: releases a turn on a device (struct ml_session_device): by its holder, and by the
 * collector for a holder that has died. A target may overwrite this memory; only the
 * attribution of bytes to processes depends on it.
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

#define ML_TURN_WAITED_FOR (1u << 31) /* added to the pid: a thread sleeps on `holder` */

/* Does nothing if another process has the turn. */
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
