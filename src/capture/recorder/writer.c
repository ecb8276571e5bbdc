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

#include "filtered.h"
#include "frame_mark.h"
#include "given_names.h"
#include "nanoseconds.h"
#include "record.h"
#include "recorder.h"
#include "ring_pages.h"
#include "ring_wait.h"
#include "sandbox.h"
#include "sys.h"
#include "writer.h"

#define RINGLESS_RECORDS 1000
#define PAUSES_FOR_ROOM 3000 /* tens of milliseconds: more than the collector sleeps */
#define SPACED_WORDS_MAX 6   /* in a record that has a space */

static struct ml_writer no_writer;
__thread struct ml_writer *ml_writer = &no_writer;

/* Set while this thread gets its ring: records made meanwhile have no ring. */
static __thread bool claiming;

static pthread_key_t exit_key;
static bool exit_key_made;

/* A thread that can no longer read the clock gives up its ring, so that all it records is counted
 * as lost. The collector takes the ring back when the thread has ended: a record that this one
 * interrupts may still be under way. */
uint64_t ml_now_slow(void)
{
    if (!ml_clock_mode)
        ml_recorder_start();
    if (ML_UNLIKELY(!ml_clock_usable())) {
        ml_writer = &no_writer;
        return 0;
    }
    if (ml_recorder_clock() == ML_CLOCK_TSC)
        return ml_tsc();
    return ml_clock_ns(CLOCK_MONOTONIC);
}

/* ---- A thread's ring --------------------------------------------------- */

/* Runs when a thread ends. Destructors of other libraries may still free memory, so the ring is
 * closed in the last round that POSIX promises. Later records claim a new ring, which the collector
 * takes back when it sees that the thread is gone. */
static ML_NO_THREAD_SANITIZER void thread_exit(void *rounds_left)
{
    uintptr_t left = (uintptr_t)rounds_left;
    struct ml_writer *w = ml_writer;

    if (left > 1) {
        pthread_setspecific(exit_key, (void *)(left - 1));
        return;
    }
    if (!w->ring)
        return;
    /* A thread that was cancelled inside a record has left it busy. */
    w->busy = NULL;
    if (w->pending_words)
        ml_record_pending(w);
    ml_writer = &no_writer;
    /* Pairs with the collector's acquire load: all records are in. */
    atomic_store_explicit(&w->ring->state, ML_RING_CLOSED, memory_order_release);
}

void ml_writer_init(void)
{
    if (!exit_key_made)
        exit_key_made = !pthread_key_create(&exit_key, thread_exit);
}

/* A ring and its recording. If another recording began meanwhile, that is ambiguous, and the ring
 * is released. NULL: there is none. */
static struct ml_ring *claim_ring(uint32_t *ret_recording, uint64_t **ret_data,
                                  struct ml_writer **ret_writer)
{
    struct ml_ring *ring;

    for (;;) {
        *ret_recording = ml_recorder_recording();
        ring = ml_recorder_claim(ret_data, ret_writer);
        if (!ring || (*ret_recording && *ret_recording == ml_recorder_recording()))
            return ring;
        atomic_store_explicit(&ring->state, ML_RING_FREE, memory_order_release);
    }
}

/* A number that no thread before has had: ML_WRITER_NUMBERS of them, then 0. A forked child goes
 * on after those of its parent. */
static uint32_t next_number(void)
{
    static _Atomic uint32_t given;
    uint32_t number = atomic_load_explicit(&given, memory_order_relaxed);

    do {
        if (number == ML_WRITER_NUMBERS)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&given, &number, number + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return number + 1;
}

static struct ml_writer *claim(void)
{
    uint32_t recording;
    uint64_t *data;
    struct ml_writer *w;
    struct ml_ring *ring = claim_ring(&recording, &data, &w);

    if (!ring)
        return NULL;
    w->data = data;
    w->head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    w->limit = w->head;
    w->recording = recording;
    w->number = next_number();
    w->function = 0;
    w->busy = NULL;
    w->lost_pushes = w->paused_pushes = w->owed_pops = 0;
    w->pending_words = 0;
    w->has_walked = false;
    atomic_store_explicit(&ring->waiting, 0, memory_order_relaxed);
    ring->tid = ml_thread_id();
    if (ml_calls_allowed())
        prctl(PR_GET_NAME, ring->name, 0, 0, 0);
    else
        memset(ring->name, 0, sizeof(ring->name));
    ml_given_to_ring(ring);
    /* Pairs with the collector's acquire load: tid and name are set. */
    atomic_store_explicit(&ring->state, ML_RING_ACTIVE, memory_order_release);
    __atomic_store_n(&w->ring, ring, __ATOMIC_RELAXED); /* see stop_writers of recorder.c */
    return w;
}

/* ---- The end of a recording --------------------------------------------- */

static bool is_over(const struct ml_writer *w)
{
    return w->recording != ml_recorder_recording();
}

/* The collector no longer reads the ring. It stays mapped. */
static void leave_ring(struct ml_writer *w)
{
    ml_writer = &no_writer;
    __atomic_store_n(&w->ring, NULL, __ATOMIC_RELAXED);
    w->pending_words = 0;
    w->busy = NULL;
}

/* Either this thread sees that the recording has ended, or the thread that ends it sets the limit
 * after us: both store and then load, sequentially consistent. Pairs with stop_writers in
 * recorder.c. */
static void set_limit(struct ml_writer *w, uint64_t limit)
{
    if (ml_calls_allowed()) /* otherwise no more memory can be asked for */
        limit = ml_min_u64(limit, ml_ring_backed(w));
    atomic_store_explicit(&w->limit, limit, memory_order_seq_cst);
    if (ML_UNLIKELY(w->recording != atomic_load_explicit(&ml_recording, memory_order_seq_cst)))
        atomic_store_explicit(&w->limit, 0, memory_order_relaxed);
}

/* ---- Room -------------------------------------------------------------- */

static bool room_now(struct ml_writer *w, unsigned n)
{
    uint64_t size = w->mask + 1;
    /* Pairs with the collector's release store: words that it has read may be overwritten. */
    uint64_t tail = atomic_load_explicit(&w->ring->tail, memory_order_acquire);
    uint64_t used = w->head - tail;
    uint32_t state = atomic_load_explicit(&w->ring->state, memory_order_relaxed);

    /* A stray pointer wrote there, and the ring cannot be repaired. */
    if (used > size || state != ML_RING_ACTIVE) {
        atomic_store_explicit(&w->ring->owner, ML_RING_ORPHANED, memory_order_relaxed);
        return false;
    }
    if (used + n > size)
        return false;
    if (used + n <= size / 2) {
        set_limit(w, tail + size / 2);
        return true;
    }
    /* More than half full: ring the doorbell, and check again after an eighth. */
    ml_ring_doorbell();
    set_limit(w, ml_min_u64(tail + size, w->head + ml_max_u64(size / 8, n)));
    return true;
}

/* Waits while the collector drains, unless it is gone or stuck, or no calls are allowed. Signals
 * are blocked meanwhile: records of a handler would have to fit into `pending`, which is small. */
static bool wait_for_room(struct ml_writer *w, unsigned n)
{
    uint64_t signals = ml_sys_block_signals();
    struct ml_ring_wait wait = {0};
    bool ok;

    while (!(ok = room_now(w, n)) && ml_ring_wait(&wait, w))
        continue;
    ml_sys_restore_signals(signals);
    return ok;
}

/* The same when no calls are allowed: the collector cannot be woken, but drains often then. Gives
 * up at most once in each of its rounds. */
static bool spin_for_room(struct ml_writer *w, unsigned n)
{
    static __thread uint64_t in_vain; /* 1 + the heartbeat at which this thread gave up */
    uint64_t beat = atomic_load_explicit(&ml_session->heartbeat, memory_order_relaxed);

    if (in_vain == beat + 1)
        return false;
    for (unsigned i = 0; i < PAUSES_FOR_ROOM; i++) {
        if (room_now(w, n))
            return true;
        ml_pause();
    }
    in_vain = atomic_load_explicit(&ml_session->heartbeat, memory_order_relaxed) + 1;
    return false;
}

/* After a wait in vain, records are dropped at once until there is room or the collector makes
 * progress. */
static bool room(struct ml_writer *w, unsigned n)
{
    bool ok =
        ml_ring_back(w, n) &&
        (room_now(w, n) || (!ml_collector_stuck() && !ml_ring_is_orphaned(w->ring) &&
                            (wait_for_room(w, n) || (!ml_calls_allowed() && spin_for_room(w, n)))));

    if (!ok)
        w->limit = w->head;
    return ok;
}

/* ---- Slow paths -------------------------------------------------------- */

static _Atomic uint64_t *lost_counter(struct ml_writer *w)
{
    if (!w->ring)
        return ml_recorder_lost();
    return ml_ring_is_orphaned(w->ring) ? &ml_session->unrecorded_lost : &w->ring->lost;
}

static bool is_push(unsigned kind)
{
    return kind == ML_PUSH || kind == ML_REC_PUSH_TAPE || kind == ML_REC_PUSH_WORK;
}

static bool is_definition(unsigned kind)
{
    return kind == ML_REC_STRING || kind == ML_REC_SPACE || kind == ML_REC_OBJECT ||
           kind == ML_REC_LIBRARY || kind == ML_REC_STACK || kind == ML_REC_PYTHON_FRAME ||
           kind == ML_REC_PYTHON_STACK;
}

/* Scopes must balance despite losses: a pop is dropped with its push, or recorded later.
 * @return whether this push or pop is dropped for good */
static bool balance(struct ml_writer *w, unsigned kind)
{
    if (kind == ML_POP && !w->lost_pushes) {
        w->owed_pops++;
        return false;
    }
    w->lost_pushes += is_push(kind) ? 1 : -1;
    return true;
}

/* Names are not events: they are announced again when there is room. So are the stacks of a ring,
 * when they return. */
static void drop(struct ml_writer *w, const uint64_t *words)
{
    _Atomic uint64_t *lost = lost_counter(w);
    unsigned kind = words[0] & 0xff;

    if (!lost || kind == ML_REC_RING_STACK)
        return;
    if (is_definition(kind)) {
        ml_recorder_names_dropped();
        return;
    }
    if (w->ring && (is_push(kind) || kind == ML_POP) && !balance(w, kind))
        return;
    if (kind == ML_POP && w->paused_pushes) {
        w->paused_pushes--;
        return;
    }
    atomic_fetch_add_explicit(lost, 1, memory_order_relaxed);
}

void ml_record_drop(const uint64_t *words)
{
    drop(ml_writer, words);
}

static bool fits(struct ml_writer *w, unsigned n)
{
    return w->head + n <= w->limit || room(w, n);
}

/* Not while records are pending: the pushes may be among them. */
static bool pay_pops(struct ml_writer *w)
{
    if (ML_UNLIKELY(w->pending_words))
        return true;
    for (; ML_UNLIKELY(w->owed_pops) && fits(w, 1); w->owed_pops--) {
        uint64_t pop = ml_record_word(ML_POP, 0, ml_now());
        ml_writer_copy(w, &pop, 1);
    }
    return !w->owed_pops;
}

/* Whether the record belongs into the ring although the recording is paused. */
static ML_NOINLINE bool survives_pause(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    enum ml_turns_fate fate = ml_turns_resuming() ? ML_TURNS_RECORD : ml_turns_take(words, n);

    if (fate == ML_TURNS_SCOPE && balance(w, words[0] & 0xff))
        w->paused_pushes += is_push(words[0] & 0xff);
    return fate == ML_TURNS_RECORD;
}

static bool append(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    if (ML_UNLIKELY(!ml_turn_is_current()) && !survives_pause(w, words, n))
        return false;
    if (ML_UNLIKELY(!pay_pops(w) || !fits(w, n))) {
        drop(w, words);
        return false;
    }
    ml_writer_copy(w, words, n);
    return true;
}

/* A handler may run between the two: its record must see that others wait. */
static void release(struct ml_writer *w)
{
    if (w->pending_words)
        atomic_store_explicit(&w->limit, 0, memory_order_relaxed);
    ml_writer_end(w);
    if (w->pending_words)
        ml_record_pending(w);
}

/* The stamp of a thread's first record was read before the claim, and if only one thread had a
 * ring, without the fence of ml_tsc. Since the record may free a block of that thread, it gets
 * another stamp. Records that are longer than the room define names. */
static const uint64_t *stamp_again(const uint64_t *words, unsigned n,
                                   uint64_t room[SPACED_WORDS_MAX + 1])
{
    uint64_t kind_and_space = (UINT64_C(1) << ML_TIME_SHIFT) - 1;

    if (n > SPACED_WORDS_MAX + 1)
        return words;
    memcpy(room, words, n * sizeof(*words));
    room[0] = (words[0] & kind_and_space) | ml_now() << ML_TIME_SHIFT;
    return room;
}

/* Except in a sandbox, no handler runs meanwhile: its records would have no ring, or precede the
 * names that they need. Setting the key comes last because it may call calloc, which can be
 * recorded by then. */
static bool claim_and_append(uint32_t only_in, const uint64_t *words, unsigned n)
{
    struct ml_writer *w = claim();

    if (!w)
        return false;
    ml_writer = w;
    ml_recorder_announce();
    ml_recorder_announce_again();
    if (ML_UNLIKELY(!ml_turn_is_current()))
        ml_turns_resume();
    if (n && (!only_in || only_in == w->recording)) {
        uint64_t room[SPACED_WORDS_MAX + 1];
        volatile uint64_t mark;

        words = stamp_again(words, n, room);
        ml_writer_begin(w, &mark, words[0]);
        append(w, words, n);
        release(w);
    }
    if (exit_key_made)
        pthread_setspecific(exit_key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
    return true;
}

static bool claim_quietly(uint32_t only_in, const uint64_t *words, unsigned n)
{
    struct ml_quiet quiet;
    bool ok;

    ml_quiet_begin(&quiet);
    claiming = true;
    ok = claim_and_append(only_in, words, n);
    claiming = false;
    ml_quiet_end(&quiet);
    return ok;
}

static bool may_claim(void)
{
    return ml_recorder_start() && !claiming && ml_clock_usable();
}

void ml_writer_prepare(void)
{
    int saved_errno = errno;

    if (!ml_writer->ring && may_claim())
        claim_quietly(0, NULL, 0);
    errno = saved_errno;
}

/* Whether a thread without a ring needs none for this record: the recording is paused. With signals
 * blocked: without a ring no record keeps those of a handler waiting. */
static bool is_paused_away(const uint64_t *words, unsigned n)
{
    struct ml_quiet quiet;
    enum ml_turns_fate fate;

    if (ML_LIKELY(!ml_turn_is_paused()))
        return false;
    ml_quiet_begin(&quiet);
    fate = ml_turns_take(words, n);
    ml_quiet_end(&quiet);
    return fate != ML_TURNS_RECORD;
}

/* only_in: the recording that the record is for; 0: the current one, whichever it is. */
static void record_first(uint32_t only_in, const uint64_t *words, unsigned n)
{
    static __thread uint32_t skip; /* records to drop before asking for a ring again */
    int saved_errno = errno;
    bool may = may_claim();
    bool ok = false;

    if (may && is_paused_away(words, n)) {
        errno = saved_errno;
        return;
    }
    if (may && !skip) {
        ok = claim_quietly(only_in, words, n);
        skip = ok ? 0 : RINGLESS_RECORDS;
    } else if (skip) {
        skip--;
    }
    if (!ok)
        drop(&no_writer, words);
    errno = saved_errno;
}

void ml_record_first(const uint64_t *words, unsigned n)
{
    record_first(0, words, n);
}

/* A handler can find `busy` clear while the records of an earlier one still wait: those come
 * first. */
static void move_earlier(struct ml_writer *w)
{
    const volatile uint64_t *busy = w->busy;
    uint64_t first = w->busy_first;

    ml_record_pending(w);
    w->busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
    w->busy_first = first;
}

/* Ends a pause, if the recording was resumed.
 * @return whether the thread still has the ring: the recording may have ended meanwhile */
static ML_NOINLINE bool end_pause(struct ml_writer *w)
{
    const volatile uint64_t *busy = w->busy;
    uint64_t first = w->busy_first;
    struct ml_quiet quiet;

    if (ml_turn_is_paused() || ml_turns_resuming())
        return true;
    ml_quiet_begin(&quiet);
    w->busy = NULL;
    ml_turns_resume();
    if (ml_writer == w) {
        w->busy = busy;
        atomic_signal_fence(memory_order_seq_cst);
        w->busy_first = first;
    }
    ml_quiet_end(&quiet);
    return ml_writer == w;
}

/* Precondition: w->busy was set by the caller. */
void ml_record_slow(struct ml_writer *w, uint32_t only_in, const uint64_t *words, unsigned n)
{
    int saved_errno = errno;
    bool ok;

    if (ML_UNLIKELY(is_over(w))) {
        leave_ring(w);
        record_first(only_in, words, n);
        return;
    }
    if (ML_UNLIKELY(!ml_turn_is_current()) && !end_pause(w)) {
        record_first(only_in, words, n);
        errno = saved_errno;
        return;
    }
    if (w->pending_words)
        move_earlier(w);
    ok = (!only_in || only_in == w->recording) && append(w, words, n);
    release(w);
    if (ok)
        ml_recorder_announce_again();
    errno = saved_errno;
}

void ml_record_in_slow(uint32_t recording, const uint64_t *words, unsigned n)
{
    struct ml_writer *w = ml_writer;
    volatile uint64_t mark = 0;

    if (!recording)
        return;
    if (!w->ring) {
        record_first(recording, words, n);
    } else if (!w->busy) {
        ml_writer_begin(w, &mark, words[0]);
        ml_record_slow(w, recording, words, n);
    } else if (w->recording == recording) {
        ml_record_nested(w, words, n);
    }
}

void ml_record_wide(uint32_t only_in, unsigned space, const uint64_t *words, unsigned n)
{
    uint64_t wide[SPACED_WORDS_MAX + 1];

    memcpy(wide, words, n * sizeof(*words));
    wide[n] = space;
    if (only_in)
        ml_record_in(only_in, wide, n + 1);
    else
        ml_record(wide, n + 1);
}

/* ---- Records inside records ------------------------------------------------ */

/* Whether the interrupted record is in the ring. Longer records than this are definitions, which
 * may be sent twice. */
#define PUBLISHED_WORDS_MAX 8

static bool is_published(const struct ml_writer *w)
{
    for (unsigned i = 1; i <= PUBLISHED_WORDS_MAX && i <= w->head; i++) {
        if (w->data[(w->head - i) & w->mask] == w->busy_first)
            return true;
    }
    return false;
}

/* The interrupted record will not continue: a signal handler has left it by longjmp. If it was not
 * published, it is lost. If it was a push, the same jump skipped its pop. */
static void end_abandoned(struct ml_writer *w)
{
    uint64_t first = w->busy_first;
    bool published;

    w->head = atomic_load_explicit(&w->ring->head, memory_order_relaxed);
    atomic_store_explicit(&w->limit, 0, memory_order_relaxed);
    published = is_published(w);
    release(w);
    if (!published && is_push(first & 0xff))
        first = ml_record_word(ML_ALLOC, 0, 0);
    if (!published)
        drop(w, &first);
}

/* A record inside a record: from a signal handler, or from a library call that the recorder makes.
 * It waits in `pending` until the outer one is done. One instruction reserves its place, so that
 * handlers may interrupt handlers. The limit makes the next record look: it must not overtake this
 * one, or it must check whether a pop is owed. */
static void wait_for_outer(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    uint32_t at = atomic_fetch_add_explicit(&w->pending_words, 1 + n, memory_order_relaxed);

    atomic_store_explicit(&w->limit, 0, memory_order_relaxed);
    if (at + 1 + n <= ML_PENDING_WORDS) {
        w->pending[at] = n;
        memcpy(&w->pending[at + 1], words, n * sizeof(*words));
        return;
    }
    if (at < ML_PENDING_WORDS)
        w->pending[at] = 0; /* the list ends here */
    drop(w, words);
}

ML_NOINLINE void ml_record_nested(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    if (ML_LIKELY(ml_frame_stands(w->busy))) {
        wait_for_outer(w, words, n);
        return;
    }
    end_abandoned(w);
    ml_record(words, n);
}

static void move_pending(struct ml_writer *w, uint32_t at, uint32_t end)
{
    while (at < ml_min_u64(end, ML_PENDING_WORDS)) {
        uint64_t n = w->pending[at];
        if (!n || n > ML_RECORD_MAX_WORDS || at + 1 + n > ML_PENDING_WORDS)
            break; /* the list ends here, or a handler was left by longjmp before it had written
                      this one */
        append(w, &w->pending[at + 1], (unsigned)n);
        /* For the next handlers that take this place, one of which may be left by longjmp. */
        memset(&w->pending[at], 0, (1 + n) * sizeof(uint64_t));
        at += 1 + (uint32_t)n;
    }
}

/* Moves pending records of handlers into the ring, with signals blocked so that none adds more. In
 * a sandbox they cannot be blocked, and records added meanwhile are moved too. */
void ml_record_pending(struct ml_writer *w)
{
    uint64_t signals = ml_sys_block_signals();
    uint32_t owed_pops = w->owed_pops; /* to pushes in the list */
    uint32_t at = 0, end;
    volatile uint64_t mark;

    ml_writer_begin(w, &mark, ml_record_word(ML_ALLOC, 0, ml_now()));
    w->owed_pops = 0;
    end = w->pending_words;
    do {
        move_pending(w, at, end);
        at = end;
    } while (!atomic_compare_exchange_strong_explicit(&w->pending_words, &end, 0,
                                                      memory_order_relaxed, memory_order_relaxed));
    w->owed_pops += owed_pops;
    pay_pops(w);
    ml_writer_end(w);
    ml_sys_restore_signals(signals);
}
