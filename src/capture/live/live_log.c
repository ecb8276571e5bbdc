/* live_log.c: see live_log.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_log.h"

#include <assert.h>

#include "address_room.h"
#include "fork_lock.h"
#include "frame_mark.h"
#include "live_blocks.h"
#include "sys.h"

/* Reserved, touched as it fills; fewer in little address space. */
#define EVENTS_MAX (1u << 20)
#define EVENTS_LEAST (1u << 8)

struct event {
    uint64_t address;
    int64_t bytes : 55;
    uint64_t is_forward : 1;
    uint64_t device : 8;
};
static_assert(sizeof(struct event) == 16, "two words");

#define FORWARD_BIT (1u << ML_PHASE_FORWARD)
#define BACKWARD_BIT (1u << ML_PHASE_BACKWARD)

_Atomic uint32_t ml_live_log_on;

static struct event *events;
static uint32_t events_max;
static uint32_t count;
static uint32_t taken;                 /* of those, for layers */
static _Atomic bool overflowed;        /* or an event is missing for another reason */
static bool changing;                  /* see fork_lock.h */
static uint64_t base[ML_LIVE_DEVICES]; /* bytes of the phase when the log began */
/* In memory that a forked child sees cleared; NULL: the table is off, and nothing is logged. */
static struct ml_fork_lock *log_lock;
static __thread bool locked_for_fork;

/* As in live_blocks.c: the log may be left by longjmp. */
static __thread struct {
    const volatile uint64_t *at; /* NULL: not in the log; set before the other field */
    bool has_lock;
} inside;

void ml_live_log_init(struct ml_fork_lock *lock)
{
    log_lock = lock;
}

ML_NOINLINE bool ml_live_log_is_inside(void)
{
    bool had_lock = inside.has_lock;

    if (!inside.at)
        return false;
    if (ml_frame_stands(inside.at))
        return true;
    inside.has_lock = false;
    inside.at = NULL;
    if (had_lock)
        ml_unlock(&log_lock->lock);
    return false;
}

static enum ml_fork_entry lock_log(volatile uint64_t *mark)
{
    enum ml_fork_entry entry;

    if (!log_lock || ml_live_log_is_inside())
        return ML_FORK_REFUSED;
    *mark = ml_frame_mark(mark);
    atomic_signal_fence(memory_order_seq_cst);
    inside.at = mark;
    atomic_signal_fence(memory_order_seq_cst);
    entry = ml_fork_lock_enter(log_lock, &changing);
    inside.has_lock = entry != ML_FORK_REFUSED;
    if (!inside.has_lock)
        inside.at = NULL;
    return entry;
}

/* `mark` is 0, and on the caller's stack. After a half-finished change the log lacks an event. */
static bool enter(volatile uint64_t *mark)
{
    enum ml_fork_entry entry = lock_log(mark);

    if (entry != ML_FORK_WHOLE)
        atomic_store_explicit(&overflowed, true, memory_order_relaxed);
    return entry != ML_FORK_REFUSED;
}

static void leave(void)
{
    inside.has_lock = false;
    atomic_signal_fence(memory_order_seq_cst);
    ml_fork_lock_leave(log_lock, &changing);
    atomic_signal_fence(memory_order_seq_cst);
    inside.at = NULL;
}

void ml_live_log_slow(unsigned phase, unsigned device, uint64_t address, int64_t bytes)
{
    volatile uint64_t mark = 0;

    if (!enter(&mark))
        return;
    if (ml_live_log_on && count < events_max)
        events[count++] = (struct event){.address = address,
                                         .bytes = bytes,
                                         .is_forward = phase == ML_PHASE_FORWARD,
                                         .device = device & 255};
    else
        atomic_store_explicit(&overflowed, true, memory_order_relaxed);
    leave();
}

static void forget(void)
{
    count = taken = 0;
    overflowed = false;
}

/* With the lock held. */
static void log_also(uint32_t phase_bit)
{
    if (!events)
        events = ml_address_table(EVENTS_MAX, EVENTS_LEAST, sizeof(*events), &events_max);
    if (events)
        atomic_fetch_or_explicit(&ml_live_log_on, phase_bit, memory_order_relaxed);
}

static void log_no_longer(uint32_t phase_bit)
{
    atomic_fetch_and_explicit(&ml_live_log_on, ~phase_bit, memory_order_relaxed);
}

void ml_live_log_begin(void)
{
    volatile uint64_t mark = 0;

    if (!enter(&mark))
        return;
    forget();
    for (unsigned i = 0; i < ML_LIVE_DEVICES; i++)
        base[i] = ml_live_bytes(i, ML_PHASE_BACKWARD);
    log_also(BACKWARD_BIT);
    leave();
}

void ml_live_log_forward(bool on)
{
    volatile uint64_t mark = 0;

    if (!enter(&mark))
        return;
    if (on && !ml_live_log_on)
        forget();
    if (on)
        log_also(FORWARD_BIT);
    else
        log_no_longer(FORWARD_BIT);
    leave();
}

size_t ml_live_log_take(uint64_t *addresses, size_t max)
{
    volatile uint64_t mark = 0;
    size_t n = 0;

    if (!enter(&mark))
        return 0;
    for (; taken < count && n < max; taken++)
        if (events[taken].is_forward && events[taken].bytes > 0)
            addresses[n++] = events[taken].address;
    if (taken == count && !(ml_live_log_on & BACKWARD_BIT))
        forget();
    leave();
    return n;
}

/* Its place in the list, ignoring the lowest bit; NULL: it is not there. */
static uint64_t *find(uint64_t *sorted, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((sorted[middle] & ~(uint64_t)1) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && (sorted[low] & ~(uint64_t)1) == address ? &sorted[low] : NULL;
}

/* A live block is the last one that was allocated at its address. */
static void leave_out(uint64_t *others, size_t n)
{
    for (uint32_t i = count; i-- > 0;) {
        uint64_t *other = find(others, n, events[i].address);
        if (!other || *other & 1)
            continue;
        *other |= 1;
        if (events[i].bytes > 0)
            events[i].bytes = 0;
    }
}

static uint64_t peak_of(uint64_t devices)
{
    int64_t now = 0, peak;

    for (unsigned i = 0; i < ML_LIVE_DEVICES; i++)
        now += devices >> i & 1 ? (int64_t)base[i] : 0;
    peak = now;
    for (uint32_t i = 0; i < count; i++) {
        if (!events[i].is_forward && devices >> events[i].device & 1)
            now += events[i].bytes;
        if (now > peak)
            peak = now;
    }
    return peak > 0 ? (uint64_t)peak : 0;
}

bool ml_live_log_end(uint64_t devices, uint64_t *others, size_t n, uint64_t *ret)
{
    volatile uint64_t mark = 0;
    bool ok;

    if (!enter(&mark))
        return false;
    ok = ml_live_log_on & BACKWARD_BIT && !overflowed;
    log_no_longer(BACKWARD_BIT);
    if (ok) {
        leave_out(others, n);
        *ret = peak_of(devices);
    }
    leave();
    return ok;
}

void ml_live_log_before_fork(void)
{
    locked_for_fork = log_lock && ml_lock_or_give_up(&log_lock->lock);
}

void ml_live_log_after_fork(void)
{
    if (locked_for_fork)
        ml_unlock(&log_lock->lock);
    locked_for_fork = false;
}
