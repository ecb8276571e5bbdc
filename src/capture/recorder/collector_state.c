/* collector_state.c: see collector_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_state.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "proc_stat.h"

static uint64_t value_of(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* Some systems hide other users' processes in /proc. */
static enum ml_collector_state state_of_unseen(uint32_t pid)
{
    return syscall(SYS_kill, (long)pid, 0L) && errno == ESRCH ? ML_COLLECTOR_BLOCKED
                                                              : ML_COLLECTOR_UNKNOWN;
}

/* Precondition: the collector is in our pid namespace. It is ready if any of its threads runs or
 * waits for a processor: one thread may wait for another. */
static enum ml_collector_state state_of_threads(const struct ml_collector_id *id, uint32_t pid,
                                                uint64_t *cpu_ticks)
{
    enum ml_collector_state state = ML_COLLECTOR_BLOCKED;

    for (unsigned i = 0; i < ML_ARRAY_SIZE(id->threads); i++) {
        uint32_t tid = atomic_load_explicit(&id->threads[i], memory_order_relaxed);
        struct ml_proc_stat stat;

        if (!tid)
            continue;
        if (!ml_proc_stat_read(pid, tid, &stat))
            return state_of_unseen(pid);
        if (i == 0 && stat.start_ticks != value_of(&id->start_ticks))
            return ML_COLLECTOR_BLOCKED; /* it ended, and another process has its pid */
        *cpu_ticks += stat.cpu_ticks;
        if (stat.state == 'R')
            state = ML_COLLECTOR_READY;
        else if (stat.state == 'D' && state == ML_COLLECTOR_BLOCKED)
            state = ML_COLLECTOR_UNKNOWN;
    }
    return state;
}

enum ml_collector_state ml_collector_state(const struct ml_collector_id *id,
                                           uint64_t *ret_cpu_ticks)
{
    /* Pairs with the collector's release store of pid, which comes last: the other fields are set.
     */
    uint32_t pid = atomic_load_explicit(&id->pid, memory_order_acquire);
    uint64_t space = value_of(&id->pid_namespace);

    *ret_cpu_ticks = 0;
    if (!pid || !space || space != ml_proc_pid_namespace())
        return ML_COLLECTOR_UNKNOWN;
    return state_of_threads(id, pid, ret_cpu_ticks);
}
