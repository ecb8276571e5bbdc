/* record.h: append a record to this thread's ring.
 *
 * The fast path is inline and makes no call: read the clock, write one to six
 * words, publish. Everything else (the thread's first record, a full ring, a
 * record made by a signal handler inside another record) is in writer.c.
 *
 * Nothing here fails, allocates or changes errno. A full ring makes its thread wait while the
 * collector works. A collector that shows no sign of life is waited for one second if it is stopped
 * or gone, three if its state is unknown, and a minute if it gets no processor
 * (collector_watch.h). A record that cannot be kept is counted as lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORD_H
#define ML_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "event.h"
#include "frame_mark.h"
#include "ring.h"
#include "turns.h"

#define ML_PENDING_WORDS 2048
#define ML_AHEAD_WORDS 64
#define ML_WRITER_NUMBERS UINT16_MAX

/* A thread's end of its ring. It is in memory that the kernel clears in a forked child, so that a
 * child starts with limit 0 and takes the slow path, however it was forked. */
struct ml_writer {
    uint64_t *data;
    uint64_t mask; /* words in the ring, less one */
    uint64_t head; /* our copy of ring->head */
    /* The position that head may reach before the slow path must check. Another thread sets it to 0
     * when the recording ends. */
    _Atomic uint64_t limit;
    struct ml_ring *ring; /* NULL: this writer has no ring */
    /* Not NULL inside a record, when a signal handler must not touch the ring: the address of that
     * record's mark (frame_mark.h), and its first word. */
    const volatile uint64_t *busy;
    uint64_t busy_first;
    uint32_t lost_pushes;   /* open scopes whose push was dropped: drop their pops too */
    uint32_t paused_pushes; /* of them: during a pause, which is no loss */
    uint32_t owed_pops;     /* dropped pops whose push was recorded: record them later */
    uint32_t recording;     /* the recording that the ring belongs to */
    uint32_t number;        /* of the thread among all that had a ring; 0: beyond the last */
    uint32_t function;      /* of the last ML_REC_FUNCTION; 0: a push or pop has ended it */
    /* The number of the ring's words that have memory behind them: see ring_pages.h. */
    uint64_t backed;
    uint32_t skip_backing; /* records to drop before asking for more */
    /* The last stack of the thread that has the writer (call_stack.c); NULL: there is no room for
     * one yet. Not in a thread-local variable, because those are part of every thread's stack,
     * which may be small. */
    void *walked;
    bool has_walked; /* it is this thread's */
    /* Its last Python stacks (python_recent.c); NULL: none. Those of another thread that had the
     * writer are as good. */
    struct ml_python_recent *python_recent;
    /* The last stacks with Python frames of its calls (joined_stack.c); NULL: none. */
    struct ml_joined_stacks *joined_stacks;
    _Atomic uint32_t pending_words;
    uint64_t pending[ML_PENDING_WORDS]; /* records that signal handlers made meanwhile */
};

/* Never NULL: a thread without a ring points at a writer that is always full. */
extern __thread struct ml_writer *ml_writer;

/* 0 until the recorder has started. */
extern _Atomic uint32_t ml_clock_mode;
/* Whether more than one thread of this process has had a ring; see ml_tsc. */
extern _Atomic bool ml_clock_fenced;

uint64_t ml_now_slow(void);
void ml_record_first(const uint64_t *words, unsigned n);
/* only_in: the recording that the record is for; 0: the current one, whichever it is. */
void ml_record_slow(struct ml_writer *w, uint32_t only_in, const uint64_t *words, unsigned n);
void ml_record_nested(struct ml_writer *w, const uint64_t *words, unsigned n);
void ml_record_pending(struct ml_writer *w);

/* Counts a record of this thread as lost. */
void ml_record_drop(const uint64_t *words);

/* The fence keeps the counter from being read before the program's earlier loads. Otherwise the
 * processor may read the time while the load that hands us another thread's block is still under
 * way, and the block's free would be stamped before its allocation.
 *
 * It takes more than twice as long as the counter, and the records of a thread that records alone
 * are in the order of its ring anyway. A thread that is handed a block by a second one which
 * records finds the flag set: the second sets it before its first record (ml_recorder_claim), and
 * x86 processors do not let a load overtake the one that hands the block over. The first record of
 * the second is stamped again after that (claim_and_append in writer.c). */
static ML_ALWAYS_INLINE uint64_t ml_tsc(void)
{
    /* Pairs with the release store in ml_recorder_claim. */
    if (atomic_load_explicit(&ml_clock_fenced, memory_order_acquire))
        __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
}

/* Ticks of the session's clock. */
static ML_ALWAYS_INLINE uint64_t ml_now(void)
{
    if (ML_LIKELY(atomic_load_explicit(&ml_clock_mode, memory_order_relaxed) == ML_CLOCK_TSC))
        return ml_tsc();
    return ml_now_slow();
}

/* The same without the fence: for a record that no other thread's records depend on, such as a
 * scope, or one that is put in order by other means. The fence waits for the loads that are under
 * way. In a program that works on memory this takes longer than everything else in a record. */
static ML_ALWAYS_INLINE uint64_t ml_now_unfenced(void)
{
    if (ML_LIKELY(atomic_load_explicit(&ml_clock_mode, memory_order_relaxed) == ML_CLOCK_TSC))
        return __builtin_ia32_rdtsc();
    return ml_now_slow();
}

/* A stamp right after that of this thread's last record, for a record whose time does not become
 * part of the trace, only its place among the thread's others. Reading the clock takes longer than
 * the rest of a record. */
static ML_ALWAYS_INLINE uint64_t ml_next_stamp(void)
{
    const struct ml_writer *w = ml_writer;

    return ML_LIKELY(w->ring) ? (w->busy_first >> ML_TIME_SHIFT) + 1 : ml_now();
}

/* The begin and the end of a record. The signal fences keep `busy` around the rest for a handler on
 * this thread; no other thread looks at it. */
static ML_ALWAYS_INLINE void ml_writer_begin(struct ml_writer *w, volatile uint64_t *mark,
                                             uint64_t first)
{
    *mark = ml_frame_mark(mark);
    atomic_signal_fence(memory_order_seq_cst);
    w->busy = mark;
    atomic_signal_fence(memory_order_seq_cst);
    w->busy_first = first;
}

static ML_ALWAYS_INLINE void ml_writer_end(struct ml_writer *w)
{
    atomic_signal_fence(memory_order_seq_cst);
    w->busy = NULL;
    atomic_signal_fence(memory_order_seq_cst);
}

static ML_ALWAYS_INLINE void ml_writer_copy(struct ml_writer *w, const uint64_t *words, unsigned n)
{
    uint64_t head = w->head;
    uint64_t *data = w->data; /* for all the compiler knows, the ring overlaps *w */
    uint64_t mask = w->mask;

#pragma GCC unroll 5
    for (unsigned i = 0; i < n; i++)
        data[(head + i) & mask] = words[i];
    w->head = head + n;
    /* The collector read these lines last. Prefetched here, they are back by the time they are
     * written. Saves a fifth with a busy collector. */
    __builtin_prefetch(&w->data[(head + ML_AHEAD_WORDS) & w->mask], 1);
    /* Pairs with the collector's acquire load: the words are written before the position covers
     * them. */
    atomic_store_explicit(&w->ring->head, head + n, memory_order_release);
}

/* Whether n more words fit, and the recording is not paused. No: the slow path must look first. */
static ML_ALWAYS_INLINE bool ml_writer_has_room(struct ml_writer *w, unsigned n)
{
    return ML_LIKELY(w->head + n <= atomic_load_explicit(&w->limit, memory_order_relaxed) &&
                     ml_turn_is_current());
}

/* The rest of a record that has begun and has room. */
static ML_ALWAYS_INLINE void ml_writer_finish(struct ml_writer *w, const uint64_t *words,
                                              unsigned n)
{
    ml_writer_copy(w, words, n);
    ml_writer_end(w);
    if (ML_UNLIKELY(w->pending_words))
        ml_record_pending(w);
}

/* Appends a whole record of n words. */
static ML_ALWAYS_INLINE void ml_record(const uint64_t *words, unsigned n)
{
    struct ml_writer *w = ml_writer;
    volatile uint64_t mark = 0; /* a mark of an abandoned record may be here */

    if (ML_UNLIKELY(!w->ring)) {
        ml_record_first(words, n);
        return;
    }
    if (ML_UNLIKELY(w->busy)) {
        ml_record_nested(w, words, n);
        return;
    }
    ml_writer_begin(w, &mark, words[0]);
    if (ML_UNLIKELY(!ml_writer_has_room(w, n))) {
        ml_record_slow(w, 0, words, n);
        return;
    }
    ml_writer_finish(w, words, n);
}

/* The same. @return whether the record is in the ring that the thread had before. Precondition: it
 * has one, and is not inside a record. Not for hot paths. */
static inline bool ml_record_kept(const uint64_t *words, unsigned n)
{
    const struct ml_writer *w = ml_writer;
    uint64_t head = w->head;

    ml_record(words, n);
    return ml_writer == w && w->head - head >= n;
}

/* For a space whose number does not fit into the first word: the record gets the number as one more
 * word. only_in as for ml_record_in; 0: the current recording, whichever it is. */
void ml_record_wide(uint32_t only_in, unsigned space, const uint64_t *words, unsigned n);

/* A record that belongs to a space, whose number goes into the first word. */
static ML_ALWAYS_INLINE void ml_record_spaced(unsigned space, const uint64_t *words, unsigned n)
{
    if (ML_UNLIKELY(space >= ML_SPACE_WIDE))
        ml_record_wide(0, space, words, n);
    else
        ml_record(words, n);
}

/* The recording that this thread's last record went into, if it was not lost; 0: none. */
static inline uint32_t ml_record_place(void)
{
    return ml_writer->recording;
}

/* For ml_record_in: the thread has no ring, is inside a record, or its ring is full or that of
 * another recording. */
void ml_record_in_slow(uint32_t recording, const uint64_t *words, unsigned n);

/* The same as ml_record if the record goes into that recording, otherwise nothing: a running
 * process may leave one recording and join another at any time. */
static ML_ALWAYS_INLINE void ml_record_in(uint32_t recording, const uint64_t *words, unsigned n)
{
    struct ml_writer *w = ml_writer;
    volatile uint64_t mark = 0;

    if (ML_UNLIKELY(!w->ring || w->busy || recording != w->recording)) {
        ml_record_in_slow(recording, words, n);
        return;
    }
    ml_writer_begin(w, &mark, words[0]);
    if (ML_LIKELY(ml_writer_has_room(w, n)))
        ml_writer_finish(w, words, n);
    else
        ml_record_slow(w, recording, words, n);
}

static ML_ALWAYS_INLINE void ml_record_spaced_in(uint32_t recording, unsigned space,
                                                 const uint64_t *words, unsigned n)
{
    if (!recording)
        return;
    if (ML_UNLIKELY(space >= ML_SPACE_WIDE))
        ml_record_wide(recording, space, words, n);
    else
        ml_record_in(recording, words, n);
}

/* Functions that end in _at take the record's stamp. */
static ML_ALWAYS_INLINE void ml_record_alloc_at(uint64_t stamp, unsigned space, const void *ptr,
                                                uint64_t bytes)
{
    uint64_t words[] = {ml_record_word(ML_ALLOC, space, stamp), (uintptr_t)ptr, bytes};
    ml_record_spaced(space, words, 3);
}

static ML_ALWAYS_INLINE void ml_record_alloc(unsigned space, const void *ptr, uint64_t bytes)
{
    ml_record_alloc_at(ml_now(), space, ptr, bytes);
}

/* The same for an allocation whose stack is known; not for hot paths. */
static inline void ml_record_alloc_stack_at(uint64_t stamp, unsigned space, uint64_t addr,
                                            uint64_t bytes, uint32_t stack)
{
    uint64_t words[] = {ml_record_word(ML_REC_ALLOC_STACK, space, stamp), addr, bytes, stack};
    ml_record_spaced(space, words, 4);
}

static inline void ml_record_alloc_stack(unsigned space, uint64_t addr, uint64_t bytes,
                                         uint32_t stack)
{
    ml_record_alloc_stack_at(ml_now(), space, addr, bytes, stack);
}

static ML_ALWAYS_INLINE void ml_record_free_at(uint64_t stamp, unsigned space, const void *ptr)
{
    uint64_t words[] = {ml_record_word(ML_FREE, space, stamp), (uintptr_t)ptr};
    ml_record_spaced(space, words, 2);
}

static ML_ALWAYS_INLINE void ml_record_free(unsigned space, const void *ptr)
{
    ml_record_free_at(ml_now(), space, ptr);
}

static ML_ALWAYS_INLINE void ml_record_free_in_at(uint64_t stamp, uint32_t recording,
                                                  unsigned space, const void *ptr)
{
    uint64_t words[] = {ml_record_word(ML_FREE, space, stamp), (uintptr_t)ptr};
    ml_record_spaced_in(recording, space, words, 2);
}

static inline void ml_record_free_in(uint32_t recording, unsigned space, const void *ptr)
{
    ml_record_free_in_at(ml_now(), recording, space, ptr);
}

/* A name and a purpose for a live block. */
static inline void ml_record_label_at(uint64_t stamp, unsigned space, const void *ptr,
                                      uint32_t category, uint32_t name)
{
    uint64_t words[] = {ml_record_word(ML_LABEL, space, stamp), (uintptr_t)ptr,
                        ml_pair(category, name)};
    ml_record_spaced(space, words, 3);
}

static inline void ml_record_label(unsigned space, const void *ptr, uint32_t category,
                                   uint32_t name)
{
    ml_record_label_at(ml_now(), space, ptr, category, name);
}

/* An allocation that was refused; stack 0: unknown. */
static inline void ml_record_oom(unsigned space, uint64_t bytes, uint32_t stack)
{
    uint64_t words[] = {ml_record_word(ML_OOM, space, ml_now()), bytes, stack};
    ml_record_spaced(space, words, 3);
}

/* The thread is in no function any more, as the collector sees it. */
static ML_ALWAYS_INLINE void ml_writer_end_function(void)
{
    struct ml_writer *w = ml_writer;

    if (w->ring) /* threads without one share a writer */
        w->function = 0;
}

/* The kind may have a class above its low 8 bits; see ring.h. */
static ML_ALWAYS_INLINE void ml_record_push_at(uint64_t stamp, uint32_t kind, uint32_t name)
{
    uint64_t words[] = {ml_record_word(ML_PUSH, 0, stamp), ml_pair(kind, name)};

    ml_writer_end_function();
    ml_record(words, 2);
}

static ML_ALWAYS_INLINE void ml_record_push(uint32_t kind, uint32_t name)
{
    ml_record_push_at(ml_now(), kind, name);
}

/* A pop is kept or dropped as its push was. */
static ML_ALWAYS_INLINE void ml_record_pop_at(uint64_t stamp)
{
    uint64_t words[] = {ml_record_word(ML_POP, 0, stamp)};

    ml_writer_end_function();
    if (ML_UNLIKELY(ml_writer->lost_pushes))
        ml_record_drop(words);
    else
        ml_record(words, 1);
}

static ML_ALWAYS_INLINE void ml_record_pop(void)
{
    ml_record_pop_at(ml_now());
}

static inline void ml_record_move(unsigned space, const void *ptr)
{
    uint64_t words[] = {ml_record_word(ML_MOVE, space, ml_now()), (uintptr_t)ptr};
    ml_record_spaced(space, words, 2);
}

static inline void ml_record_move_failed(unsigned space, const void *ptr)
{
    uint64_t words[] = {ml_record_word(ML_MOVE_FAILED, space, ml_now()), (uintptr_t)ptr};
    ml_record_spaced(space, words, 2);
}

static inline void ml_record_free_range(unsigned space, const void *ptr, uint64_t bytes)
{
    uint64_t words[] = {ml_record_word(ML_FREE_RANGE, space, ml_now()), (uintptr_t)ptr, bytes};
    ml_record_spaced(space, words, 3);
}

#endif
