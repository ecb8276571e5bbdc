/* collector_watch.c: see collector_watch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_watch.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "collector_state.h"
#include "filtered.h"
#include "nanoseconds.h"
#include "recorder.h"
#include "sys.h"

#define SECOND_NS ((uint64_t)1000000000)
/* How long a collector may be silent: in any case; and when the kernel does not say what it does.
 */
#define STUCK_NS SECOND_NS
#define UNKNOWN_NS (3 * SECOND_NS)
/* After how much silence to ask the kernel. A single answer may be wrong about a collector that
 * works: one of its threads wakes the other between two readings, or waits for the disk for a
 * moment. */
#define ASK_NS (STUCK_NS / 2)
/* How long it may work or wait for a processor without a heartbeat. Bounds every wait. */
#define STARVED_NS (60 * SECOND_NS)
/* How long a wait may delay a signal: a program that is asked to end or to wake up should react. */
#define SIGNALS_NS SECOND_NS
/* The processor time in which the collector must make progress, in hundredths of a second. */
#define CPU_TICKS_MAX 200
/* The most time that one check may add to a wait. If more has passed, we were stopped or had no
 * processor, or the machine slept, and the collector could not show anything. */
#define LOOK_MAX_NS (2 * (uint64_t)ML_LOOK_NS)
/* How long all targets may rely on one target's look at the kernel's tables. */
#define VOUCHED_NS (2 * (uint64_t)ML_LOOK_NS)

static uint64_t heartbeat(void)
{
    return atomic_load_explicit(&ml_session->heartbeat, memory_order_relaxed);
}

/* 1 + the heartbeat at which this thread gave up waiting because of a signal. */
static __thread uint64_t signal_at;

static bool is_stuck_for_all(void)
{
    return atomic_load_explicit(&ml_session->closed, memory_order_relaxed) ||
           atomic_load_explicit(&ml_session->stuck_at, memory_order_relaxed) == heartbeat() + 1;
}

bool ml_collector_stuck(void)
{
    return is_stuck_for_all() || signal_at == heartbeat() + 1;
}

/* The collector runs or waits for a processor. */
static bool may_work(struct ml_collector_watch *watch, uint64_t cpu_ticks, uint64_t now_ns)
{
    if (!watch->asked) {
        watch->asked = true;
        watch->cpu_ticks = cpu_ticks;
    }
    if (cpu_ticks - watch->cpu_ticks > CPU_TICKS_MAX)
        return false;
    watch->silent_ns = 0;
    atomic_store_explicit(&ml_session->vouched_ns, now_ns, memory_order_relaxed);
    return true;
}

static bool may_come_back(struct ml_collector_watch *watch, uint64_t now_ns)
{
    uint64_t vouched_ns = atomic_load_explicit(&ml_session->vouched_ns, memory_order_relaxed);
    uint64_t cpu_ticks;

    if (now_ns - vouched_ns < VOUCHED_NS) {
        watch->silent_ns = 0;
        return true;
    }
    switch (ml_collector_state(&ml_session->collector, &cpu_ticks)) {
    case ML_COLLECTOR_READY: return may_work(watch, cpu_ticks, now_ns);
    case ML_COLLECTOR_UNKNOWN: return watch->silent_ns < UNKNOWN_NS;
    default: return watch->silent_ns < STUCK_NS;
    }
}

static void look(struct ml_collector_watch *watch, uint64_t beat, uint64_t now_ns)
{
    uint64_t passed_ns = ml_min_u64(now_ns - watch->last_ns, LOOK_MAX_NS);

    if (!watch->begun_ns)
        watch->begun_ns = now_ns;
    if (!watch->last_ns || beat != watch->heartbeat) {
        *watch = (struct ml_collector_watch){.heartbeat = beat, .begun_ns = watch->begun_ns};
    } else {
        watch->waited_ns += passed_ns;
        watch->silent_ns += passed_ns;
    }
    watch->last_ns = now_ns;
}

bool ml_collector_alive(struct ml_collector_watch *watch)
{
    uint64_t beat = heartbeat();
    uint64_t now_ns;

    if (is_stuck_for_all() || !ml_calls_allowed())
        return false;
    now_ns = ml_clock_ns(CLOCK_MONOTONIC);
    look(watch, beat, now_ns);
    if (now_ns - watch->begun_ns >= SIGNALS_NS && ml_sys_signal_waits()) {
        signal_at = beat + 1;
        return false;
    }
    /* After a minute, whatever threads that began to wait later find. */
    if (watch->waited_ns <= STARVED_NS &&
        (watch->silent_ns < ASK_NS || may_come_back(watch, now_ns)))
        return true;
    /* The collector may have made progress and gone to sleep while we looked. */
    if (heartbeat() != beat)
        return true;
    atomic_store_explicit(&ml_session->stuck_at, beat + 1, memory_order_relaxed);
    return false;
}

/* Either we see that the collector sleeps, or it sees the doorbell before it sleeps: both sides
 * store first and load afterwards, sequentially consistent. Pairs with ml_collector_sleep in
 * collector_sleep.c. */
void ml_ring_doorbell(void)
{
    struct ml_session *s = ml_session;

    atomic_fetch_add_explicit(&s->doorbell, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&s->sleeping, memory_order_seq_cst) && ml_calls_begin()) {
        syscall(SYS_futex, &s->doorbell, FUTEX_WAKE, 1L, NULL, NULL, 0L);
        ml_calls_end();
    }
}
