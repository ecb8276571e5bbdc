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

#include "code_object.h"
#include "frame_step.h"
#include "libraries.h"
#include "loaded_symbols.h"
#include "record.h"
#include "recorder.h"
#include "stack.h"
#include "stack_table.h"
#include "writer.h"

#define FRAMES ML_STACK_MAX_FRAMES
#define WAYS 16       /* stacks that a thread keeps, a power of two */
#define KEY_FRAMES 2u /* frames that say which of them to compare with */
#define WORDS_OF_FRAME 3
#define WORDS (WORDS_OF_FRAME * FRAMES)
#define RINGLESS_CALLS 1000 /* before a thread without a ring asks for one again */

/* A word of the stack that a walk has read. */
struct word {
    uintptr_t place;
    uintptr_t value;
};

/* One of a thread's last stacks. It is at the end of the arrays: the frames that two stacks share
 * are the outer ones, and stay where they are. */
struct kept_stack {
    uint32_t unloads;
    uint32_t number;
    bool is_kept;        /* the rest can be used */
    uint32_t first;      /* index of the innermost frame */
    uint32_t first_word; /* and of the first word */
    bool is_full;        /* there were more frames */
    uint64_t pcs[FRAMES];
    uintptr_t sps[FRAMES];
    uintptr_t fps[FRAMES];
    uint64_t hashes[FRAMES];     /* of each frame and its callers */
    uint32_t words_from[FRAMES]; /* index of the first word that led to its caller */
    /* Whether its callers depend on the frame pointer. Most code uses the register for other
     * values, which change between two calls. */
    bool needs_fp[FRAMES];
    struct word words[WORDS];
};

/* What a thread needs to walk its stack. */
struct walked {
    struct ml_stack_range stack;
    const volatile uint64_t *busy;            /* the mark of the function that works on this */
    uint32_t unloads;                         /* when this walk began */
    struct ml_native_frame inner[FRAMES + 1]; /* the beginning of the walk that is under way */
    struct kept_stack last[WAYS];             /* by their innermost frames */
};

/* Empty if the recorder is linked into the program. */
static struct ml_address_range own_code;

/* ---- The last stack ---------------------------------------------------------------- */

/* The index of the first word from which on all are as they were. */
static ML_ALWAYS_INLINE ML_NO_ADDRESS_SANITIZER uint32_t
unchanged_from(const struct kept_stack *last)
{
    const struct word *words = last->words;
    uint32_t i = WORDS;

    while (i > last->first_word && *(const uintptr_t *)words[i - 1].place == words[i - 1].value)
        i--;
    return i;
}

/* Only frames whose words the next walk may read without the kernel's help. */
static ML_ALWAYS_INLINE bool can_be_kept(const struct ml_stack_range *stack,
                                         const struct ml_native_frame *f)
{
    return !f->is_interrupted && ml_stack_covers(stack, f->sp + (uintptr_t)ML_RETURN_OFFSET) &&
           (!f->fp_place || ml_stack_covers(stack, f->fp_place)) &&
           (ML_LIKELY(!f->sp_place) || ml_stack_covers(stack, f->sp_place));
}

/* ---- A walk --------------------------------------------------------------------------- */

struct walk {
    struct kept_stack *last; /* the stack to compare with */
    struct ml_native_frame at;
    uint32_t n;       /* frames in `inner` */
    uint32_t compare; /* index of the kept frame to compare with; FRAMES: none */
    uint32_t valid;   /* kept words from this index on are as they were */
    bool is_plain;    /* all frames can be kept */
};

static ML_ALWAYS_INLINE bool is_own(uintptr_t pc)
{
    return pc - own_code.begin < own_code.end - own_code.begin;
}

/* Whether the walk has come to a frame of the last stack, from which on both are the same. A stack
 * that has more frames than are recorded must end at the same one. */
static ML_ALWAYS_INLINE bool meets_last(struct walk *w)
{
    const struct kept_stack *last = w->last;
    uint32_t i = w->compare;

    while (i < FRAMES && last->sps[i] < w->at.sp)
        i++;
    w->compare = i;
    return i < FRAMES && last->sps[i] == w->at.sp && last->pcs[i] == w->at.pc &&
           (!last->needs_fp[i] || last->fps[i] == w->at.fp) && last->words_from[i] >= w->valid &&
           (w->n == i - last->first || (!last->is_full && w->n <= i));
}

static ML_ALWAYS_INLINE void put_frame(struct walked *t, const struct walk *w)
{
    struct ml_native_frame *f = &t->inner[w->n];

    f->pc = w->at.pc;
    f->sp = w->at.sp;
    f->fp = w->at.fp;
    f->fp_place = w->at.fp_place;
    f->sp_place = w->at.sp_place;
    f->used_fp = w->at.used_fp;
    f->is_interrupted = w->at.is_interrupted;
}

/* The innermost frames say which of the last stacks to compare with: a program allocates in many
 * places in turn. */
static ML_ALWAYS_INLINE void choose_last(struct walked *t, struct walk *w)
{
    uint64_t key = ml_stack_hash(ml_stack_hash(w->at.pc, t->inner[1].pc), t->inner[0].pc);

    w->last = &t->last[key & (WAYS - 1)];
    if (ML_UNLIKELY(!w->last->is_kept || w->last->unloads != t->unloads || !w->is_plain))
        return;
    w->compare = w->last->first;
    w->valid = unchanged_from(w->last);
}

/* Walks to a frame of the last stack, which ends with ML_UNWOUND_DONE, or to the end. That frame is
 * in `inner` too. */
static ML_ALWAYS_INLINE enum ml_unwound walk_frames(struct walked *t, struct walk *w)
{
    enum ml_unwound step;

    for (;;) {
        put_frame(t, w);
        if (ML_UNLIKELY(!can_be_kept(&t->stack, &w->at) || is_own(w->at.pc))) {
            w->is_plain = false;
            w->compare = FRAMES;
        }
        if (w->n == KEY_FRAMES && !w->last)
            choose_last(t, w);
        if (w->compare < FRAMES && meets_last(w))
            return ML_UNWOUND_DONE;
        w->n++;
        step = w->n < FRAMES ? ml_unwind_step(&t->stack, t->unloads, &w->at) : ML_UNWOUND_OUTERMOST;
        if (ML_UNLIKELY(step != ML_UNWOUND_DONE)) {
            w->compare = FRAMES;
            return step;
        }
    }
}

/* ---- Numbers --------------------------------------------------------------------------- */

static ML_ALWAYS_INLINE uint32_t number_of(const uint64_t *addresses, uint32_t n, uint64_t hash,
                                           uint32_t unloads)
{
    uint32_t number = ml_stack_table_find(addresses, n, hash, unloads);

    return ML_LIKELY(number) ? number : ml_stack_number(addresses, n, unloads);
}

/* Puts the words that led to a frame before those in use. */
static ML_ALWAYS_INLINE uint32_t put_words(struct kept_stack *last, uint32_t word,
                                           const struct ml_native_frame *f, bool needs_fp)
{
    last->words[--word] = (struct word){f->sp + (uintptr_t)ML_RETURN_OFFSET, f->pc};
    if (needs_fp && f->fp_place)
        last->words[--word] = (struct word){f->fp_place, f->fp};
    if (ML_UNLIKELY(f->sp_place))
        last->words[--word] = (struct word){f->sp_place, f->sp};
    return word;
}

/* Whether a frame's callers depend on its frame pointer, if it is known for its caller. */
static ML_ALWAYS_INLINE bool needs_fp(const struct ml_native_frame *caller, bool caller_needs_fp)
{
    return caller->used_fp || (!caller->fp_place && caller_needs_fp);
}

/* Puts the new frames before those that the last stack shares with this one. */
static ML_ALWAYS_INLINE void keep(struct walked *t, const struct walk *w)
{
    struct kept_stack *last = w->last;
    bool shares = w->compare < FRAMES;
    uint32_t word = shares ? last->words_from[w->compare] : WORDS;
    uint64_t hash = shares ? last->hashes[w->compare] : 0;
    bool needs = shares && last->needs_fp[w->compare];
    uint32_t at = w->compare;

    for (uint32_t i = w->n; i-- > 0;) {
        const struct ml_native_frame *f = &t->inner[i];

        if (at < FRAMES) {
            word = put_words(last, word, f + 1, needs);
            needs = needs_fp(f + 1, needs);
        }
        at--;
        hash = ml_stack_hash(hash, f->pc);
        last->hashes[at] = hash;
        last->pcs[at] = f->pc;
        last->sps[at] = f->sp;
        last->fps[at] = f->fp;
        last->needs_fp[at] = needs;
        last->words_from[at] = word;
    }
    last->is_full = shares ? last->is_full : w->n == FRAMES;
    last->first = at;
    last->first_word = word;
}

/* Whether the walk has found the last stack again. */
static ML_ALWAYS_INLINE bool is_last(const struct walked *t, const struct walk *w)
{
    const struct kept_stack *last = w->last;

    if (w->compare == FRAMES || w->n != w->compare - last->first)
        return false;
    for (uint32_t i = 0; i < w->n; i++) {
        if (t->inner[i].pc != last->pcs[last->first + i])
            return false;
    }
    return true;
}

static ML_ALWAYS_INLINE uint32_t number_kept(struct walked *t, const struct walk *w)
{
    struct kept_stack *last = w->last;

    /* A handler that leaves by longjmp leaves no half of a stack. */
    last->is_kept = false;
    atomic_signal_fence(memory_order_seq_cst);
    keep(t, w);
    last->unloads = t->unloads;
    last->number = number_of(last->pcs + last->first, FRAMES - last->first,
                             last->hashes[last->first], t->unloads);
    atomic_signal_fence(memory_order_seq_cst);
    last->is_kept = true;
    return last->number;
}

/* The recorder's own frames are left out. An instruction that a signal interrupted gets the address
 * that a call there would return to. */
static ML_NOINLINE uint32_t number_unkept(struct walked *t, uint32_t frames, bool ends_early)
{
    uint64_t *pcs = t->last[0].pcs; /* which is not kept then */
    uint32_t n = 0;

    t->last[0].is_kept = false;
    for (uint32_t i = 0; i < frames; i++) {
        const struct ml_native_frame *f = &t->inner[i];
        if (!is_own(f->pc))
            pcs[n++] = f->pc + (f->is_interrupted ? 1 : 0);
    }
    if (ends_early && n < FRAMES)
        pcs[n++] = ML_STACK_ENDS_EARLY;
    return n ? number_of(pcs, n, ml_stack_hash_all(pcs, n), t->unloads) : 0;
}

static ML_ALWAYS_INLINE uint32_t stack_from(struct walked *t, struct ml_native_frame caller)
{
    struct walk w = {.at = caller, .compare = FRAMES, .is_plain = true};
    enum ml_unwound end;

    t->unloads = ml_row_unloads();
    if (ML_UNLIKELY(!ml_stack_covers(&t->stack, caller.sp)))
        ml_stack_cover(&t->stack, caller.sp);
    while (ML_UNLIKELY(is_own(w.at.pc))) {
        if (ml_unwind_step(&t->stack, t->unloads, &w.at) != ML_UNWOUND_DONE)
            return 0;
    }
    end = walk_frames(t, &w);
    if (ML_UNLIKELY(!w.last || !w.is_plain || end >= ML_UNWOUND_LOST))
        return number_unkept(t, w.n, end >= ML_UNWOUND_LOST);
    return is_last(t, &w) ? w.last->number : number_kept(t, &w);
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

static void forget_thread(struct walked *t)
{
    memset(t, 0, offsetof(struct walked, inner));
    for (size_t i = 0; i < WAYS; i++)
        t->last[i].is_kept = false;
}

/* For the first stack of a thread. Another thread may have had the writer before. */
static ML_NOINLINE struct walked *begin_thread(struct ml_writer *w)
{
    int saved_errno = errno;

    if (!w->walked)
        w->walked = ml_recorder_map_wiped(sizeof(struct walked));
    else
        forget_thread(w->walked);
    w->has_walked = w->walked;
    errno = saved_errno;
    return w->walked;
}

/* This thread's; NULL: it cannot be used now. */
static ML_ALWAYS_INLINE struct walked *of_thread(void)
{
    struct ml_writer *w;
    struct walked *t;

    if (ML_UNLIKELY(!ml_writer->ring) && !get_ring())
        return NULL;
    w = ml_writer;
    t = ML_LIKELY(w->has_walked) ? w->walked : begin_thread(w);
    if (ML_UNLIKELY(!t || w->busy || (t->busy && ml_frame_stands(t->busy))))
        return NULL;
    return t;
}

ML_NOINLINE uint32_t ml_call_stack(const void *frame_address)
{
    volatile uint64_t mark = 0; /* a mark of an abandoned stack may be here */
    struct walked *t = of_thread();
    uint32_t number;

    if (ML_UNLIKELY(!t))
        return 0;
    mark = ml_frame_mark(&mark);
    t->busy = &mark;
    atomic_signal_fence(memory_order_seq_cst);
    number = stack_from(t, ml_frame_of_caller(frame_address));
    atomic_signal_fence(memory_order_seq_cst);
    t->busy = NULL;
    return number;
}

/* ---- Libraries --------------------------------------------------------------------------- */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool ml_call_stack_init(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&done))
        return ml_code_object_can();
    if (ml_symbols_own_object() != _r_debug.r_map)
        own_code = (struct ml_address_range){(uintptr_t)__ehdr_start, (uintptr_t)_end};
    ml_unwind_init();
    return ml_code_object_can();
}

void ml_call_stack_unloaded(void)
{
    ml_unwind_unloaded();
}
