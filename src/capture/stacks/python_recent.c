/* python_recent.c: see python_recent.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_recent.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "address_room.h"
#include "compiler.h"
#include "python_memory.h"
#include "record.h"
#include "recorder.h"

#define SETS 64u
#define WAYS 2u        /* in a set: two stacks may take turns */
#define FRAMES_MAX 96u /* a deeper stack is walked each time */

/* A frame as the interpreter has it, with internal ones. */
struct kept_frame {
    uintptr_t frame;
    uintptr_t code;
    uintptr_t instruction;
};

struct kept_stack {
    uint64_t freed; /* code objects, when it was kept */
    uint32_t number;
    _Atomic uint32_t frames; /* how many; 0: none is kept */
    struct kept_frame items[FRAMES_MAX];
};

struct kept_set {
    struct kept_stack ways[WAYS];
    _Atomic uint32_t last; /* of the ways, that was found or kept; the other is replaced */
};

struct ml_python_recent {
    _Atomic bool busy; /* for signal handlers of this thread; stays after a longjmp out of here */
    struct kept_set sets[SETS];
};

/* ---- Code objects ---------------------------------------------------------------- */

typedef void destroy_function(void *object);

/* tp_dealloc of a PyTypeObject, in all versions. */
#define TYPE_DESTROY 48

static destroy_function *destroy;
static _Atomic uint64_t freed;

/* Runs with the interpreter's lock held. A thread that has other code at that address got it under
 * the same lock, and sees the count. */
static void count_freed(void *code)
{
    atomic_fetch_add_explicit(&freed, 1, memory_order_relaxed);
    __atomic_load_n(&destroy, __ATOMIC_RELAXED)(code);
}

static destroy_function **destroy_slot(const struct ml_python *py)
{
    return (destroy_function **)(py->code_type + TYPE_DESTROY);
}

void ml_python_recent_begin(const struct ml_python *py)
{
    destroy_function *theirs = __atomic_load_n(destroy_slot(py), __ATOMIC_RELAXED);

    if (!theirs || theirs == count_freed)
        return;
    __atomic_store_n(&destroy, theirs, __ATOMIC_RELAXED);
    __atomic_store_n(destroy_slot(py), count_freed, __ATOMIC_RELEASE);
}

/* Another tool may have put its own function there. */
static ML_ALWAYS_INLINE bool counts(const struct ml_python *py)
{
    return __atomic_load_n(destroy_slot(py), __ATOMIC_RELAXED) == count_freed;
}

bool ml_python_freed_codes(const struct ml_python *py, uint64_t *ret)
{
    *ret = atomic_load_explicit(&freed, memory_order_relaxed);
    return counts(py);
}

/* ---- Frames ----------------------------------------------------------------------- */

static ML_ALWAYS_INLINE bool is_by_pointer(const struct ml_python_layout *at)
{
    return at->instruction == ML_PYTHON_BY_POINTER;
}

static ML_ALWAYS_INLINE uintptr_t instruction_in(const struct ml_python_layout *at, uintptr_t frame,
                                                 bool by_pointer)
{
    uintptr_t field = frame + at->frame_instruction;

    return by_pointer ? ml_python_word(field) : (uint32_t)ml_python_int(field);
}

static ML_ALWAYS_INLINE struct kept_frame frame_at(const struct ml_python_layout *at,
                                                   uintptr_t frame)
{
    return (struct kept_frame){frame, ml_python_word(frame + at->frame_code),
                               instruction_in(at, frame, is_by_pointer(at))};
}

/* The innermost frame decides. */
static ML_ALWAYS_INLINE struct kept_set *set_of(struct ml_python_recent *recent,
                                                const struct kept_frame *f)
{
    return &recent->sets[(f->code ^ f->instruction) * 0x9e3779b97f4a7c15u >> 58];
}
static_assert(SETS == 1u << (64 - 58), "six bits of the hash");

/* An instruction that is given by a pointer is part of its code, and of no other. */
static ML_ALWAYS_INLINE bool are_now(const struct ml_python_layout *at, const struct kept_stack *s,
                                     uint32_t n, uintptr_t frame, bool by_pointer)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct kept_frame *k = &s->items[i];

        if (frame != k->frame || instruction_in(at, frame, by_pointer) != k->instruction ||
            (!by_pointer && ml_python_word(frame + at->frame_code) != k->code))
            return false;
        frame = ml_python_word(frame + at->frame_previous);
    }
    return !frame;
}

/* Whether the thread has this stack. */
static ML_ALWAYS_INLINE bool is_now(const struct ml_python_layout *at, const struct kept_stack *s,
                                    uintptr_t frame)
{
    uint32_t n = atomic_load_explicit(&s->frames, memory_order_relaxed);

    if (!n || s->freed != atomic_load_explicit(&freed, memory_order_relaxed))
        return false;
    return is_by_pointer(at) ? are_now(at, s, n, frame, true) : are_now(at, s, n, frame, false);
}

uint32_t ml_python_recent_find(const struct ml_python *py)
{
    struct ml_python_recent *recent = ml_writer->python_recent;
    uintptr_t frame = recent && counts(py) ? ml_python_innermost(py) : 0;
    struct kept_set *set;
    struct kept_frame first;
    uint32_t last;

    if (!frame || atomic_load_explicit(&recent->busy, memory_order_relaxed))
        return 0;
    first = frame_at(&py->layout, frame);
    set = set_of(recent, &first);
    last = atomic_load_explicit(&set->last, memory_order_relaxed);
    if (ML_LIKELY(is_now(&py->layout, &set->ways[last], frame)))
        return set->ways[last].number;
    if (!is_now(&py->layout, &set->ways[!last], frame))
        return 0;
    atomic_store_explicit(&set->last, !last, memory_order_relaxed);
    return set->ways[!last].number;
}

/* @return how many, 0: too many, or the outermost is not where it was expected */
static uint32_t copy_frames(const struct ml_python_layout *at, uintptr_t frame,
                            struct kept_frame *ret)
{
    uint32_t n = 0;

    for (; n < FRAMES_MAX && ml_python_plausible(frame); n++) {
        ret[n] = frame_at(at, frame);
        frame = ml_python_word(frame + at->frame_previous);
    }
    return frame ? 0 : n;
}

static void keep(const struct ml_python *py, struct ml_python_recent *recent, uintptr_t frame,
                 uint32_t number)
{
    struct kept_frame first = frame_at(&py->layout, frame);
    struct kept_set *set = set_of(recent, &first);
    uint32_t way = !atomic_load_explicit(&set->last, memory_order_relaxed);
    struct kept_stack *s = &set->ways[way];

    atomic_store_explicit(&set->last, way, memory_order_relaxed);
    atomic_store_explicit(&s->frames, 0, memory_order_relaxed);
    s->number = number;
    s->freed = atomic_load_explicit(&freed, memory_order_relaxed);
    atomic_store_explicit(&s->frames, copy_frames(&py->layout, frame, s->items),
                          memory_order_relaxed);
}

/* NULL: there is no room for them. */
static ML_NOINLINE struct ml_python_recent *map_stacks(void)
{
    int saved_errno = errno;
    struct ml_python_recent *recent = NULL;

    if (sizeof(*recent) <= ml_address_share())
        recent = ml_recorder_map_wiped(sizeof(*recent));
    errno = saved_errno;
    return recent;
}

void ml_python_recent_keep(const struct ml_python *py, uint32_t number)
{
    struct ml_writer *w = ml_writer;
    uintptr_t frame = number && w->ring && counts(py) ? ml_python_innermost(py) : 0;
    struct ml_python_recent *recent;

    if (!frame)
        return;
    if (!w->python_recent)
        w->python_recent = map_stacks();
    recent = w->python_recent;
    if (!recent || atomic_load_explicit(&recent->busy, memory_order_relaxed))
        return;
    /* A handler that allocates meanwhile leaves the stacks as they are. */
    atomic_store_explicit(&recent->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    keep(py, recent, frame, number);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&recent->busy, false, memory_order_relaxed);
}
