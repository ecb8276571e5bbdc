/* cuda_turns.c: see cuda_turns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_turns.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector_watch.h"
#include "nanoseconds.h"
#include "recorder.h"
#include "turn.h"

#define NAP_NS 1000000u
/* The most time that a process may spend waiting, once in its life. */
#define PATIENCE_NS ((uint64_t)3000000000)
/* Within this time, an ending process changes NVML's figure or is gone. */
#define QUIET_NS ((uint64_t)250000000)

static struct ml_session_device *shared(unsigned device)
{
    return &ml_session->devices[device];
}

/* When several processes wait, they check again after a nap, so that they notice a holder's death
 * even if no one wakes them. */
static void nap(struct ml_session_device *d, uint32_t holder)
{
    struct timespec ts = {.tv_nsec = NAP_NS};
    int saved_errno = errno;

    if (((holder & ML_TURN_WAITED_FOR) ||
         atomic_compare_exchange_strong(&d->holder, &holder, holder | ML_TURN_WAITED_FOR)) &&
        ml_calls_begin()) {
        syscall(SYS_futex, &d->holder, FUTEX_WAIT, holder | ML_TURN_WAITED_FOR, &ts, NULL, 0);
        ml_calls_end();
    }
    errno = saved_errno;
}

static bool take(struct ml_session_device *d, uint32_t pid)
{
    uint32_t none = 0;

    return atomic_compare_exchange_strong(&d->holder, &none, pid) ||
           (none & ~ML_TURN_WAITED_FOR) == pid; /* from before exec */
}

static bool await(struct ml_cuda_state *book, struct ml_session_device *d, uint32_t pid)
{
    uint64_t begin;

    if (take(d, pid))
        return true;
    if (ml_collector_stuck())
        return false; /* a process that died with a turn would keep it */
    begin = ml_clock_ns(CLOCK_MONOTONIC);
    while (!take(d, pid)) {
        uint64_t waited = ml_clock_ns(CLOCK_MONOTONIC) - begin;
        uint32_t holder = atomic_load(&d->holder);

        if (!ml_calls_allowed())
            return false;
        if (book->waited_ns + waited > PATIENCE_NS) {
            book->waited_ns = PATIENCE_NS + 1;
            return false;
        }
        if (holder)
            nap(d, holder);
    }
    book->waited_ns += ml_clock_ns(CLOCK_MONOTONIC) - begin;
    return true;
}

bool ml_cuda_others_have_any(const struct ml_cuda_state *book, unsigned device)
{
    return atomic_load(&shared(device)->booked) != book->charges[device].booked;
}

bool ml_cuda_await_end(struct ml_cuda_state *book, unsigned device, uint64_t used)
{
    struct ml_session_device *d = shared(device);
    uint64_t booked = atomic_load(&d->booked);
    uint64_t begin = ml_clock_ns(CLOCK_MONOTONIC), now = begin, changed = begin;
    struct ml_cuda_reading r;

    if (!book->charges[device].has_turn || !ml_cuda_others_have_any(book, device))
        return false;
    while (atomic_load(&d->booked) == booked && now - changed < QUIET_NS &&
           book->waited_ns + (now - begin) < PATIENCE_NS && ml_calls_allowed()) {
        nap(d, atomic_load(&d->holder));
        now = ml_clock_ns(CLOCK_MONOTONIC);
        if (!ml_cuda_nvml_read(device, &r))
            break;
        if (r.used != used)
            changed = now;
        used = r.used;
    }
    book->waited_ns += now - begin;
    return atomic_load(&d->booked) != booked;
}

bool ml_cuda_turn_begin(struct ml_cuda_state *book, unsigned device)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    uint32_t pid;

    if (charges->calls++ > 0 || !ml_calls_allowed())
        return false;
    pid = (uint32_t)getpid();
    charges->has_turn = await(book, shared(device), pid);
    if (!charges->has_turn)
        return false;
    /* A process that is killed takes no turn, but releases all its memory. */
    return atomic_exchange(&shared(device)->last, pid) != pid ||
           ml_cuda_others_have_any(book, device);
}

void ml_cuda_turn_end(struct ml_cuda_state *book, unsigned device)
{
    struct ml_cuda_charges *charges = &book->charges[device];

    if (charges->calls == 0 || --charges->calls > 0 || !charges->has_turn)
        return;
    charges->has_turn = false;
    if (ml_calls_allowed())
        ml_turn_give_back(shared(device), (uint32_t)getpid());
    else
        atomic_store(&shared(device)->holder, 0); /* waiting processes check again after a nap */
}

bool ml_cuda_turn_is_anothers(unsigned device)
{
    uint32_t holder = atomic_load(&shared(device)->holder) & ~ML_TURN_WAITED_FOR;

    return holder && ml_calls_allowed() && holder != (uint32_t)getpid();
}

void ml_cuda_enter(struct ml_cuda_state *book, unsigned device, int64_t bytes)
{
    struct ml_cuda_charges *charges = &book->charges[device];
    struct ml_ringset *set = ml_recorder_first_set();

    charges->booked += (uint64_t)bytes;
    atomic_fetch_add(&shared(device)->booked, (uint64_t)bytes);
    if (set)
        atomic_store_explicit(&set->booked[device], charges->booked, memory_order_relaxed);
}

int64_t ml_cuda_difference(unsigned device, const struct ml_cuda_reading *r)
{
    return (int64_t)(r->used - atomic_load(&shared(device)->booked));
}
