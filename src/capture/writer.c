/* writer.c: the slow paths of record.h: a thread's first record, a full ring,
 * records made inside records, the end of a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "recorder.h"
#include "sys.h"
#include "writer.h"

#define WAIT_NS 50000
#define RINGLESS_RECORDS 1000

static struct ml_writer no_writer;
__thread struct ml_writer *ml_writer = &no_writer;

/* Set while this thread gets its ring: what is recorded meanwhile has nowhere
 * to go. */
static __thread bool claiming;

static pthread_key_t exit_key;
static bool exit_key_made;

uint64_t ml_now_slow(void)
{
    struct timespec ts;

    if (!ml_clock_mode)
        ml_recorder_start();
    if (ml_clock_mode == ML_CLOCK_TSC)
        return __builtin_ia32_rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- A thread's ring --------------------------------------------------- */

/* Runs when a thread ends. Destructors of other libraries may still free
 * memory, so the ring is handed back in the last round that POSIX promises;
 * whatever comes later claims a ring anew, and the collector takes that one
 * back when it sees that the thread is gone. */
static void thread_exit(void *rounds_left)
{
    uintptr_t left = (uintptr_t)rounds_left;
    struct ml_writer *w = ml_writer;

    if (left > 1) {
        pthread_setspecific(exit_key, (void *)(left - 1));
        return;
    }
    if (!w->ring)
        return;
    ml_writer = &no_writer;
    /* Pairs with the collector's acquire load: all records are in. */
    atomic_store_explicit(&w->ring->state, ML_RING_CLOSED, memory_order_release);
}

void ml_writer_init(void)
{
    if (!exit_key_made)
        exit_key_made = !pthread_key_create(&exit_key, thread_exit);
}

static struct ml_writer *claim(void)
{
    uint64_t *data;
    struct ml_writer *w;
    struct ml_ring *ring = ml_recorder_claim(&data, &w);

    if (!ring)
        return NULL;
    w->data = data;
    w->mask = ml_session->ring_bytes / sizeof(uint64_t) - 1;
    w->head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    w->limit = w->head;
    w->busy = 0;
    w->pending_words = 0;
    ring->tid = (uint32_t)syscall(SYS_gettid);
    prctl(PR_GET_NAME, ring->name, 0, 0, 0);
    /* Pairs with the collector's acquire load: tid and name are there. */
    atomic_store_explicit(&ring->state, ML_RING_ACTIVE, memory_order_release);
    w->ring = ring;
    return w;
}

/* ---- Room -------------------------------------------------------------- */

static bool room_now(struct ml_writer *w, unsigned n)
{
    uint64_t size = w->mask + 1;
    /* Pairs with the collector's release store: what it has read may be
     * overwritten. */
    uint64_t tail = atomic_load_explicit(&w->ring->tail, memory_order_acquire);
    uint64_t used = w->head - tail;

    if (used + n > size)
        return false;
    if (used + n <= size / 2) {
        w->limit = tail + size / 2;
        return true;
    }
    /* More than half full: ring, and look again after an eighth. */
    ml_ring_doorbell();
    w->limit = ml_min_u64(tail + size, w->head + ml_max_u64(size / 8, n));
    return true;
}

/* Waits while the collector drains. Gives up when it is gone or has not moved
 * for a second; from then on records are dropped at once until there is room. */
static bool room(struct ml_writer *w, unsigned n)
{
    static _Atomic bool given_up;
    struct ml_watch watch = {0};

    while (!room_now(w, n)) {
        if (!ml_collector_alive(&watch))
            atomic_store_explicit(&given_up, true, memory_order_relaxed);
        if (atomic_load_explicit(&given_up, memory_order_relaxed)) {
            w->limit = w->head;
            return false;
        }
        ml_ring_doorbell();
        /* nanosleep() would be a cancellation point. */
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    if (ML_UNLIKELY(atomic_load_explicit(&given_up, memory_order_relaxed)))
        atomic_store_explicit(&given_up, false, memory_order_relaxed);
    return true;
}

/* ---- Slow paths -------------------------------------------------------- */

static void append(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    if (w->head + n <= w->limit || room(w, n))
        ml_writer_copy(w, words, n);
    else
        atomic_fetch_add_explicit(&w->ring->lost, 1, memory_order_relaxed);
}

static void release(struct ml_writer *w)
{
    atomic_signal_fence(memory_order_seq_cst);
    w->busy = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (w->pending_words)
        ml_record_pending(w);
}

/* No handler runs meanwhile: what it recorded would have no ring, or be there
 * before the names it needs. Setting the key comes last because it may call
 * calloc, and by then that can be recorded. */
static bool claim_and_append(const uint64_t *words, unsigned n)
{
    struct ml_writer *w = claim();

    if (!w)
        return false;
    ml_writer = w;
    ml_recorder_announce();
    append(w, words, n);
    if (exit_key_made)
        pthread_setspecific(exit_key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
    return true;
}

static void first_record(const uint64_t *words, unsigned n)
{
    static __thread uint32_t skip; /* records to drop before asking for a ring again */
    struct ml_quiet quiet;
    bool ok = false;

    if (!claiming && !skip && ml_recorder_start()) {
        ml_quiet_begin(&quiet);
        claiming = true;
        ok = claim_and_append(words, n);
        claiming = false;
        ml_quiet_end(&quiet);
        skip = ok ? 0 : RINGLESS_RECORDS;
    } else if (skip) {
        skip--;
    }
    if (!ok)
        ml_recorder_count_lost(1);
}

/* Precondition: w->busy was set by the caller. */
void ml_record_slow(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    int saved_errno = errno;

    if (!w->ring) {
        w->busy = 0;
        first_record(words, n);
    } else {
        append(w, words, n);
        release(w);
    }
    errno = saved_errno;
}

/* A record inside a record: from a signal handler, or from a library call of
 * the recorder's. It waits in `pending` until the outer one is done. Its place
 * is reserved by one instruction, so that handlers may interrupt handlers. */
void ml_record_nested(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    uint32_t at;

    if (!w->ring) { /* another thread is just finding out the same */
        ml_record_slow(w, words, n);
        return;
    }
    at = atomic_fetch_add_explicit(&w->pending_words, 1 + n, memory_order_relaxed);
    if (at + 1 + n <= ML_PENDING_WORDS) {
        w->pending[at] = n;
        memcpy(&w->pending[at + 1], words, n * sizeof(*words));
        return;
    }
    if (at < ML_PENDING_WORDS)
        w->pending[at] = 0; /* the list ends here */
    atomic_fetch_add_explicit(&w->ring->lost, 1, memory_order_relaxed);
}

/* Moves what handlers left into the ring, with signals held off so that none
 * adds more. A handler that slips in before finds `busy` clear and writes to
 * the ring itself. */
void ml_record_pending(struct ml_writer *w)
{
    uint64_t signals = ml_sys_block_signals();

    for (uint32_t at = 0; at < ml_min_u64(w->pending_words, ML_PENDING_WORDS);) {
        unsigned n = (unsigned)w->pending[at];
        if (!n)
            break;
        append(w, &w->pending[at + 1], n);
        at += 1 + n;
    }
    w->pending_words = 0;
    ml_sys_restore_signals(signals);
}
