/* call_stack.c: see call_stack.h.
 *
 * The frames that a walk finds depend only on the registers that it begins with, on the words that
 * it reads, and on the loaded libraries. If these are as they were, so are the frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "call_stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "frame_step.h"
#include "libraries.h"
#include "loaded_symbols.h"
#include "record.h"
#include "recorder.h"
#include "stack.h"
#include "stack_table.h"
#include "writer.h"

#define FRAMES ML_STACK_MAX_FRAMES
#define WORDS (2 * FRAMES)  /* a stack with more is not kept */
#define RINGLESS_CALLS 1000 /* before a thread without a ring asks for one again */
#define WORDS_OF_FRAME 3    /* at most */

/* A word of the stack that a walk has read. */
struct word {
    uintptr_t place;
    uintptr_t value;
};

/* Frames, and the words that led to them, innermost first. */
struct trail {
    uint64_t pcs[FRAMES];
    uintptr_t sps[FRAMES];
    uintptr_t fps[FRAMES];
    uint32_t words_from[FRAMES]; /* index of the first word that led from it to its caller */
    struct word words[WORDS + WORDS_OF_FRAME];
};

/* A thread's last stack. It is at the end of the arrays: the frames that two stacks share are the
 * outer ones, and stay where they are. */
struct walked {
    struct ml_stack_range stack;
    const volatile uint64_t *busy; /* the mark of the function that works on this */
    uint32_t unloads;
    uint32_t number;
    uint32_t first;      /* index of the innermost frame */
    uint32_t first_word; /* and of the first word */
    bool is_kept;        /* the rest can be used */
    bool is_full;        /* there were more frames */
    struct trail kept;
    uint64_t hashes[FRAMES]; /* of each frame and its callers */
    struct trail inner;      /* the beginning of the walk that is under way */
};

/* Empty if the recorder is linked into the program. */
static struct ml_address_range own_code;

/* ---- The last stack ---------------------------------------------------------------- */

/* The index of the first word from which on all are as they were. */
static ML_ALWAYS_INLINE ML_NO_ADDRESS_SANITIZER uint32_t unchanged_from(const struct walked *last)
{
    const struct word *words = last->kept.words;
    uint32_t i = WORDS;

    while (i > last->first_word && *(const uintptr_t *)words[i - 1].place == words[i - 1].value)
        i--;
    return i;
}

/* ---- A walk --------------------------------------------------------------------------- */

struct walk {
    struct ml_native_frame at;
    uint32_t n, words; /* in `inner` */
    uint32_t compare;  /* index of the kept frame to compare with; FRAMES: none */
    uint32_t valid;    /* kept words from this index on are as they were */
    bool is_plain;     /* all frames can be kept */
};

static ML_ALWAYS_INLINE bool is_own(uintptr_t pc)
{
    return pc - own_code.begin < own_code.end - own_code.begin;
}

/* Whether the walk has come to a frame of the last stack, from which on both are the same. A stack
 * that has more frames than are recorded must end at the same one. */
static ML_ALWAYS_INLINE bool meets_last(const struct walked *last, struct walk *w)
{
    const struct trail *kept = &last->kept;
    uint32_t i = w->compare;

    while (i < FRAMES && kept->sps[i] < w->at.sp)
        i++;
    w->compare = i;
    return i < FRAMES && kept->sps[i] == w->at.sp && kept->pcs[i] == w->at.pc &&
           kept->fps[i] == w->at.fp && kept->words_from[i] >= w->valid &&
           (w->n == i - last->first || (!last->is_full && w->n <= i)) &&
           w->words <= kept->words_from[i];
}

/* Notes a word for the next walk, if that may read it without the kernel's help. */
static ML_ALWAYS_INLINE bool put_word(struct walked *last, struct walk *w, uintptr_t place,
                                      uintptr_t value)
{
    last->inner.words[w->words++] = (struct word){place, value};
    return ml_stack_covers(&last->stack, place);
}

/* The words that led to the frame that the walk has come to. @return whether it can be kept */
static ML_ALWAYS_INLINE bool put_words(struct walked *last, struct walk *w)
{
    bool ok = !w->at.is_interrupted && w->words <= WORDS - WORDS_OF_FRAME;

    if (ML_UNLIKELY(!ok))
        return false;
    ok = put_word(last, w, w->at.sp + (uintptr_t)ML_RETURN_OFFSET, w->at.pc);
    if (w->at.fp_place)
        ok &= put_word(last, w, w->at.fp_place, w->at.fp);
    if (ML_UNLIKELY(w->at.sp_place))
        ok &= put_word(last, w, w->at.sp_place, w->at.sp);
    return ok;
}

/* An instruction that a signal interrupted has the address that a call there would return to. */
static ML_ALWAYS_INLINE void put_frame(struct walked *last, struct walk *w)
{
    last->inner.pcs[w->n] = w->at.pc + (w->at.is_interrupted ? 1 : 0);
    last->inner.sps[w->n] = w->at.sp;
    last->inner.fps[w->n] = w->at.fp;
    last->inner.words_from[w->n] = w->words;
    w->n++;
}

static ML_ALWAYS_INLINE void is_odd(struct walk *w)
{
    w->is_plain = false;
    w->compare = FRAMES;
}

/* Walks to a frame of the last stack, which ends with ML_UNWOUND_DONE, or to the end. */
static ML_ALWAYS_INLINE enum ml_unwound walk_frames(struct walked *last, struct walk *w)
{
    enum ml_unwound step;

    for (;;) {
        if (w->compare < FRAMES && meets_last(last, w))
            return ML_UNWOUND_DONE;
        put_frame(last, w);
        if (ML_UNLIKELY(is_own(w->at.pc)))
            is_odd(w);
        step = w->n < FRAMES ? ml_unwind_step(&last->stack, last->unloads, &w->at)
                             : ML_UNWOUND_OUTERMOST;
        if (ML_UNLIKELY(step != ML_UNWOUND_DONE)) {
            w->compare = FRAMES;
            return step;
        }
        if (ML_UNLIKELY(!w->is_plain || !put_words(last, w)))
            is_odd(w);
    }
}

/* ---- Numbers --------------------------------------------------------------------------- */

static ML_ALWAYS_INLINE uint32_t number_of(const uint64_t *addresses, uint32_t n, uint64_t hash,
                                           uint32_t unloads)
{
    uint32_t number = ml_stack_table_find(addresses, n, hash, unloads);

    return ML_LIKELY(number) ? number : ml_stack_number(addresses, n, unloads);
}

/* Puts the new frames before those that the last stack shares with this one. */
static ML_ALWAYS_INLINE void keep(struct walked *last, const struct walk *w)
{
    struct trail *kept = &last->kept;
    const struct trail *inner = &last->inner;
    bool shares = w->compare < FRAMES;
    uint32_t word = (shares ? kept->words_from[w->compare] : WORDS) - w->words;
    uint32_t first = w->compare - w->n;
    uint64_t hash = shares ? last->hashes[w->compare] : 0;

    for (uint32_t i = w->n; i-- > 0;) {
        hash = ml_stack_hash(hash, inner->pcs[i]);
        last->hashes[first + i] = hash;
        kept->pcs[first + i] = inner->pcs[i];
        kept->sps[first + i] = inner->sps[i];
        kept->fps[first + i] = inner->fps[i];
        kept->words_from[first + i] = word + inner->words_from[i];
    }
    for (uint32_t i = 0; i < w->words; i++)
        kept->words[word + i] = inner->words[i];
    last->is_full = shares ? last->is_full : w->n == FRAMES;
    last->first = first;
    last->first_word = word;
}

static ML_ALWAYS_INLINE uint32_t number_kept(struct walked *last, const struct walk *w)
{
    /* A handler that leaves by longjmp leaves no half of a stack. */
    last->is_kept = false;
    atomic_signal_fence(memory_order_seq_cst);
    keep(last, w);
    last->number = number_of(last->kept.pcs + last->first, FRAMES - last->first,
                             last->hashes[last->first], last->unloads);
    atomic_signal_fence(memory_order_seq_cst);
    last->is_kept = true;
    return last->number;
}

/* The recorder's own frames are left out. */
static ML_NOINLINE uint32_t number_unkept(struct walked *last, uint32_t frames, bool ends_early)
{
    uint64_t *pcs = last->inner.pcs;
    uint32_t n = 0;

    for (uint32_t i = 0; i < frames; i++) {
        if (!is_own(pcs[i]))
            pcs[n++] = pcs[i];
    }
    if (ends_early && n < FRAMES)
        pcs[n++] = ML_STACK_ENDS_EARLY;
    return n ? number_of(pcs, n, ml_stack_hash_all(pcs, n), last->unloads) : 0;
}

/* Makes the range of the stack, and the last stack, fit for a walk from here. */
static ML_ALWAYS_INLINE void prepare(struct walked *last, uintptr_t sp)
{
    uint32_t unloads = ml_row_unloads();

    if (ML_UNLIKELY(!ml_stack_covers(&last->stack, sp)))
        ml_stack_cover(&last->stack, sp);
    if (ML_UNLIKELY(last->unloads != unloads)) {
        last->unloads = unloads;
        last->is_kept = false;
    }
}

static ML_ALWAYS_INLINE uint32_t stack_from(struct walked *last, struct ml_native_frame caller)
{
    struct walk w = {.at = caller, .compare = FRAMES, .is_plain = true};
    enum ml_unwound end;

    prepare(last, caller.sp);
    while (ML_UNLIKELY(is_own(w.at.pc))) {
        if (ml_unwind_step(&last->stack, last->unloads, &w.at) != ML_UNWOUND_DONE)
            return 0;
    }
    w.at.fp_place = w.at.sp_place = 0;
    if (ML_LIKELY(last->is_kept)) {
        w.compare = last->first;
        w.valid = unchanged_from(last);
    }
    end = walk_frames(last, &w);
    if (!w.n)
        return last->number;
    if (ML_UNLIKELY(end == ML_UNWOUND_COMPLEX))
        return ml_stack_here();
    if (ML_LIKELY(w.is_plain && end != ML_UNWOUND_LOST))
        return number_kept(last, &w);
    return number_unkept(last, w.n, end == ML_UNWOUND_LOST);
}

/* ---- The thread ------------------------------------------------------------------------- */

static ML_NOINLINE bool get_ring(void)
{
    static __thread uint32_t skip;

    if (skip) {
        skip--;
        return false;
    }
    ml_writer_prepare();
    skip = ml_writer->ring ? 0 : RINGLESS_CALLS;
    return ml_writer->ring;
}

/* For the first stack of a thread. Another thread may have had the writer before. */
static ML_NOINLINE struct walked *begin_thread(struct ml_writer *w)
{
    int saved_errno = errno;

    if (!w->walked)
        w->walked = ml_recorder_map_wiped(sizeof(struct walked));
    else
        memset(w->walked, 0, offsetof(struct walked, kept));
    w->has_walked = w->walked;
    errno = saved_errno;
    return w->walked;
}

/* Where this thread's last stack is; NULL: it cannot be used now. */
static ML_ALWAYS_INLINE struct walked *last_stack(void)
{
    struct ml_writer *w;
    struct walked *last;

    if (ML_UNLIKELY(!ml_writer->ring) && !get_ring())
        return NULL;
    w = ml_writer;
    last = ML_LIKELY(w->has_walked) ? w->walked : begin_thread(w);
    if (ML_UNLIKELY(!last || w->busy || (last->busy && ml_frame_stands(last->busy))))
        return NULL;
    return last;
}

ML_NOINLINE uint32_t ml_call_stack(const void *frame_address)
{
    volatile uint64_t mark = 0; /* a mark of an abandoned stack may be here */
    struct walked *last = last_stack();
    uint32_t number;

    if (ML_UNLIKELY(!last))
        return 0;
    mark = ml_frame_mark(&mark);
    last->busy = &mark;
    atomic_signal_fence(memory_order_seq_cst);
    number = stack_from(last, ml_frame_of_caller(frame_address));
    atomic_signal_fence(memory_order_seq_cst);
    last->busy = NULL;
    return number;
}

/* ---- Libraries --------------------------------------------------------------------------- */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void ml_call_stack_init(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&done))
        return;
    if (ml_symbols_own_object() != _r_debug.r_map)
        own_code = (struct ml_address_range){(uintptr_t)__ehdr_start, (uintptr_t)_end};
    ml_unwind_init();
}

void ml_call_stack_unloaded(void)
{
    ml_unwind_unloaded();
}
