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
#include "joined_stack.h"
#include "libraries.h"
#include "loaded_symbols.h"
#include "record.h"
#include "recorder.h"
#include "python_stack.h"
#include "ring_stacks.h"
#include "stack.h"
#include "stack_table.h"
#include "writer.h"

#define FRAMES ML_STACK_MAX_FRAMES
#define WAYS 32       /* stacks that a thread keeps, a power of two */
#define KEY_FRAMES 2u /* frames that say which of them to compare with, beside the innermost */
#define PLACES 64     /* where a thread found its callers, a power of two */
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
    uint32_t number;     /* in the ring; 0: it has none now */
    bool is_kept;        /* the rest can be used */
    uint32_t first;      /* index of the innermost frame */
    uint32_t first_word; /* and of the first word */
    bool is_full;        /* there were more frames */
    bool has_signal;     /* a signal interrupted one of them */
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
    const volatile uint64_t *busy; /* the mark of the function that works on this */
    uint32_t unloads;              /* when this walk began */
    struct ml_ring_stacks numbers;
    struct ml_native_frame inner[FRAMES + 1]; /* the beginning of the walk that is under way */
    /* Where the return addresses of the key frames were, by what led there; 0: unknown. */
    uintptr_t places[KEY_FRAMES][PLACES];
    struct kept_stack last[WAYS]; /* by their innermost frames */
};

/* Which frames are wanted. Set before the first stack. */
static bool wants_native = true;
static bool wants_python;

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
static ML_ALWAYS_INLINE struct kept_stack *last_of(struct walked *t, uint64_t pc, uint64_t caller,
                                                   uint64_t its_caller)
{
    return &t->last[ml_stack_hash(ml_stack_hash(its_caller, caller), pc) & (WAYS - 1)];
}

static ML_ALWAYS_INLINE void choose_last(struct walked *t, struct walk *w)
{
    w->last = last_of(t, t->inner[0].pc, t->inner[1].pc, w->at.pc);
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

/* ---- Without a walk --------------------------------------------------------------------- */

static ML_ALWAYS_INLINE uintptr_t *place_of(struct walked *t, uint32_t key_frame, uint64_t pc,
                                            uintptr_t sp)
{
    return &t->places[key_frame][ml_stack_hash(sp, pc) >> 8 & (PLACES - 1)];
}

/* Whether a walk from there would find the kept stack: it begins with the same registers, and all
 * words that it would read are as they were. */
static ML_ALWAYS_INLINE ML_NO_ADDRESS_SANITIZER bool
is_kept_from(const struct kept_stack *k, const struct ml_native_frame *f, uint32_t unloads)
{
    uint32_t i = k->first;

    if (!k->is_kept || k->unloads != unloads || k->pcs[i] != f->pc || k->sps[i] != f->sp ||
        (k->needs_fp[i] && k->fps[i] != f->fp))
        return false;
    for (i = k->first_word; i < WORDS; i++) {
        if (*(const uintptr_t *)k->words[i].place != k->words[i].value)
            return false;
    }
    return true;
}

/* The kept stack that a walk from there would find, if it is where the last one with the same
 * beginning was. The places are guesses: a wrong one leads to another stack, which is not the same.
 * They are in the part of the thread's stack that can be read (can_be_kept). NULL: walk. */
static ML_ALWAYS_INLINE ML_NO_ADDRESS_SANITIZER struct kept_stack *
kept_from(struct walked *t, const struct ml_native_frame *f)
{
    uintptr_t place = *place_of(t, 0, f->pc, f->sp), caller;
    struct kept_stack *k;

    if (ML_UNLIKELY(!place))
        return NULL;
    caller = *(const uintptr_t *)place;
    place = *place_of(t, 1, caller, place);
    if (ML_UNLIKELY(!place))
        return NULL;
    k = last_of(t, f->pc, caller, *(const uintptr_t *)place);
    return is_kept_from(k, f, t->unloads) ? k : NULL;
}

/* For kept_from. Precondition: the stack that the walk found is kept. */
static ML_ALWAYS_INLINE void note_places(struct walked *t)
{
    const struct ml_native_frame *f = t->inner;
    uintptr_t place = f[1].sp + (uintptr_t)ML_RETURN_OFFSET;

    *place_of(t, 0, f[0].pc, f[0].sp) = place;
    *place_of(t, 1, f[1].pc, place) = f[2].sp + (uintptr_t)ML_RETURN_OFFSET;
}

/* ---- Numbers --------------------------------------------------------------------------- */

static ML_ALWAYS_INLINE struct ml_stack_key key_of_kept(const struct kept_stack *k)
{
    return ml_stack_key(k->hashes[k->first], k->pcs[k->first], k->unloads);
}

/* A kept stack may have lost its number to this one. */
static void check_numbers(struct walked *t)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct kept_stack *k = &t->last[i];
        struct ml_stack_key key;

        if (!k->is_kept || !k->number)
            continue;
        key = key_of_kept(k);
        if (!ml_ring_stacks_has(&t->numbers, k->number, &key))
            k->number = 0;
    }
}

static ML_NOINLINE uint32_t number_new(struct walked *t, const struct ml_stack_key *key,
                                       const uint64_t *addresses, uint32_t n)
{
    uint32_t number = 0;

    if (ml_stack_libraries(addresses, n, t->unloads)) {
        number = ml_ring_stacks_add(&t->numbers, key, addresses, n);
        check_numbers(t);
    }
    if (!number)
        ml_recorder_detail_lost();
    return number;
}

static ML_ALWAYS_INLINE uint32_t number_of(struct walked *t, const uint64_t *addresses, uint32_t n,
                                           uint64_t hash)
{
    struct ml_stack_key key = ml_stack_key(hash, addresses[0], t->unloads);
    uint32_t number = ml_ring_stacks_find(&t->numbers, &key);

    return ML_LIKELY(number) ? number : number_new(t, &key, addresses, n);
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

static ML_ALWAYS_INLINE uint32_t number_last(struct walked *t, const struct kept_stack *last)
{
    return number_of(t, last->pcs + last->first, FRAMES - last->first, last->hashes[last->first]);
}

static ML_ALWAYS_INLINE void put_kept(struct walked *t, const struct walk *w)
{
    struct kept_stack *last = w->last;

    /* A handler that leaves by longjmp leaves no half of a stack. */
    last->is_kept = false;
    atomic_signal_fence(memory_order_seq_cst);
    keep(t, w);
    last->unloads = t->unloads;
    last->number = 0;
    last->has_signal = false;
    atomic_signal_fence(memory_order_seq_cst);
    last->is_kept = true;
}

/* Puts a frame before those in use. The recorder's own are left out. An instruction that a signal
 * interrupted gets the address that a call there would return to. */
static void put_unkept_frame(struct kept_stack *s, const struct ml_native_frame *f)
{
    if (is_own(f->pc))
        return;
    s->first--;
    s->pcs[s->first] = f->pc + (f->is_interrupted ? 1 : 0);
    s->sps[s->first] = f->sp;
    s->has_signal |= f->is_interrupted;
}

/* A stack that is used once, in the place of one that is kept; NULL: it has no frames. */
static ML_NOINLINE struct kept_stack *put_unkept(struct walked *t, uint32_t frames, bool ends_early)
{
    struct kept_stack *s = &t->last[0];

    s->is_kept = false;
    s->number = 0;
    s->has_signal = false;
    s->is_full = frames == FRAMES;
    s->first = FRAMES;
    if (ends_early && frames < FRAMES) {
        s->pcs[--s->first] = ML_STACK_ENDS_EARLY;
        s->sps[s->first] = UINTPTR_MAX;
    }
    while (frames--)
        put_unkept_frame(s, &t->inner[frames]);
    if (s->first + (ends_early ? 1 : 0) == FRAMES)
        return NULL;
    s->hashes[s->first] = ml_stack_hash_all(s->pcs + s->first, FRAMES - s->first);
    return s;
}

/* Valid until the thread's next stack. NULL: it is not known. */
static ML_ALWAYS_INLINE struct kept_stack *stack_from(struct walked *t,
                                                      struct ml_native_frame caller)
{
    struct walk w = {.at = caller, .compare = FRAMES, .is_plain = true};
    struct kept_stack *kept;
    enum ml_unwound end;

    t->unloads = ml_row_unloads();
    if (ML_UNLIKELY(!ml_stack_covers(&t->stack, caller.sp)))
        ml_stack_cover(&t->stack, caller.sp);
    while (ML_UNLIKELY(is_own(w.at.pc))) {
        if (ml_unwind_step(&t->stack, t->unloads, &w.at) != ML_UNWOUND_DONE)
            return NULL;
    }
    kept = kept_from(t, &w.at);
    if (ML_LIKELY(kept))
        return kept;
    end = walk_frames(t, &w);
    if (ML_UNLIKELY(!w.last || !w.is_plain || end >= ML_UNWOUND_LOST))
        return put_unkept(t, w.n, end >= ML_UNWOUND_LOST);
    if (!is_last(t, &w))
        put_kept(t, &w);
    note_places(t);
    return w.last;
}

/* ---- Python ------------------------------------------------------------------------------ */

/* 0: the thread runs no Python, or there is no room. */
static ML_NOINLINE uint32_t number_with_python(struct walked *t, const struct ml_native_part *part)
{
    const uint64_t *frames;
    struct ml_stack_key key;
    struct ml_joined joined;
    uint64_t hash;
    uint32_t number, n;

    if (!ml_joined_begin(&joined, part))
        return 0;
    number = ml_joined_find(&joined, &t->numbers);
    if (ML_LIKELY(number))
        return number;
    n = ml_joined_frames(&joined, part, &frames);
    if (!n)
        return 0;
    hash = ml_stack_hash_all(frames, n);
    number = number_of(t, frames, n, hash);
    key = ml_stack_key(hash, frames[0], t->unloads);
    ml_joined_keep(&joined, &key, number);
    return number;
}

static uint32_t number_python(struct walked *t)
{
    t->unloads = 0;
    return number_with_python(t, &(struct ml_native_part){0});
}

/* Where a signal came, the interpreter may be about to change its frames. */
static uint32_t number_joined(struct walked *t, const struct kept_stack *s)
{
    struct ml_native_part part = {
        .pcs = s->pcs + s->first,
        .sps = s->sps + s->first,
        .n = FRAMES - s->first,
        .is_cut = s->is_full,
        .hash = s->hashes[s->first],
    };

    return s->has_signal ? 0 : number_with_python(t, &part);
}

/* 0: unknown. */
static ML_ALWAYS_INLINE uint32_t number_from(struct walked *t, struct ml_native_frame caller)
{
    struct kept_stack *s;
    uint32_t number;

    if (ML_UNLIKELY(!wants_native))
        return number_python(t);
    s = stack_from(t, caller);
    if (ML_UNLIKELY(!s))
        return 0;
    number = ML_UNLIKELY(wants_python) ? number_joined(t, s) : 0;
    if (number)
        return number;
    if (ML_UNLIKELY(!s->number))
        s->number = number_last(t, s);
    return s->number;
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
    t->stack = (struct ml_stack_range){0};
    t->busy = NULL;
    ml_ring_stacks_forget(&t->numbers);
    memset(t->places, 0, sizeof(t->places));
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

/* @mark: in the caller's frame; a mark of an abandoned stack may be there */
static ML_ALWAYS_INLINE struct walked *begin(volatile uint64_t *mark)
{
    struct walked *t;

    *mark = 0;
    t = of_thread();
    if (ML_UNLIKELY(!t))
        return NULL;
    *mark = ml_frame_mark(mark);
    t->busy = mark;
    atomic_signal_fence(memory_order_seq_cst);
    return t;
}

static ML_ALWAYS_INLINE void end(struct walked *t)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (ML_LIKELY(t != NULL))
        t->busy = NULL;
}

/* 0: unknown. */
static ML_ALWAYS_INLINE uint32_t number_in_ring(struct walked *t, const void *frame_address)
{
    uint32_t number = t ? number_from(t, ml_frame_of_caller(frame_address)) : 0;

    return number ? number | ML_STACK_OF_RING : 0;
}

ML_NOINLINE void ml_call_stack_alloc(uint32_t space, const void *p, size_t bytes,
                                     const void *frame_address)
{
    volatile uint64_t mark;
    struct walked *t = begin(&mark);

    ml_record_alloc_stack(space, (uintptr_t)p, bytes, number_in_ring(t, frame_address));
    end(t);
}

ML_NOINLINE void ml_call_stack_oom(uint32_t space, size_t bytes, const void *frame_address)
{
    volatile uint64_t mark;
    struct walked *t = begin(&mark);

    ml_record_oom(space, bytes, number_in_ring(t, frame_address));
    end(t);
}

/* ---- Libraries --------------------------------------------------------------------------- */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Without the loader's answers there are no native frames. */
static void choose_frames(enum ml_stacks_mode mode)
{
    wants_python = mode == ML_STACKS_PYTHON || mode == ML_STACKS_ALL;
    wants_native = mode != ML_STACKS_PYTHON && ml_code_object_can();
}

bool ml_call_stack_init(enum ml_stacks_mode mode)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&done)) {
        if (ml_symbols_own_object() != _r_debug.r_map)
            own_code = (struct ml_address_range){(uintptr_t)__ehdr_start, (uintptr_t)_end};
        ml_unwind_init();
        choose_frames(mode);
    }
    return wants_native || wants_python;
}

const struct ml_python *ml_call_stack_loaded(void)
{
    return wants_python ? ml_python_look_for() : NULL;
}

void ml_call_stack_unloaded(void)
{
    ml_unwind_unloaded();
}
