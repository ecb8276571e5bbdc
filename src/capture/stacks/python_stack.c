/* python_stack.c: see python_stack.h.
 *
 * A lookup takes no lock: a slot changes once, from 0 to an entry. It compares the places of all
 * frames, not only their hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "address_room.h"
#include "python_find.h"
#include "python_frames.h"
#include "python_recent.h"
#include "python_walk.h"
#include "record.h"
#include "recorder.h"
#include "stack_table.h"
#include "sys.h"
#include "table_lock.h"

/* An upper limit: in little address space the tables have fewer. */
#define STACKS_MAX (1u << 20)
#define STACKS_LEAST (1u << 6)
#define FRAMES_PER_STACK 16u /* on average */

struct stack {
    uint32_t hash;
    uint32_t frames; /* how many */
    uint32_t first;  /* index of the first */
    uint32_t number; /* 0: none of them counts */
};

static struct python_stacks {
    uint32_t stacks_max;     /* a power of two */
    _Atomic uint32_t *slots; /* twice as many: entry, 0: empty */
    struct stack *stacks;    /* entry 0 is not used */
    uint32_t *frames;        /* numbers from python_frames.h */
    uint32_t used_frames;
    _Atomic uint32_t count;
} python_stacks;

/* ---- The interpreter ------------------------------------------------------------ */

enum { UNKNOWN, TO_BE_TRIED, RUNS, OFF };

static struct ml_python python;
static _Atomic uint32_t python_state;

/* ---- The lock -------------------------------------------------------------------- */

/* Set while this thread is in the tables. */
static __thread bool inside;
static struct ml_table_lock python_lock = {.lock = ml_recorder_python_lock};

ML_TABLE_ACROSS_FORK(ml_python_stack_init, python_lock, inside)

/* Precondition: the lock is held. A thread that runs no Python, like the threads of PyTorch's
 * backward pass, leaves the trial to another. */
static uint32_t learn(void)
{
    static const uint32_t after[] = {
        [ML_PYTHON_NO_FRAMES] = TO_BE_TRIED, [ML_PYTHON_SOUND] = RUNS, [ML_PYTHON_UNSOUND] = OFF};
    uint32_t state = atomic_load_explicit(&python_state, memory_order_relaxed);

    if (state == UNKNOWN)
        state = ml_python_find(&python) ? TO_BE_TRIED : OFF;
    if (state == TO_BE_TRIED) {
        state = after[ml_python_try(&python)];
        if (state == RUNS)
            ml_python_recent_begin(&python);
    }
    /* Pairs with the acquire load in ml_python_stack_here: the layout is set. */
    atomic_store_explicit(&python_state, state, memory_order_release);
    return state;
}

const struct ml_python *ml_python_look_for(void)
{
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool found;

    if (atomic_load_explicit(&python_state, memory_order_relaxed) != UNKNOWN || inside ||
        !ml_recorder_in_session() || !ml_table_enter(&python_lock, &inside, &quiet))
        return NULL;
    found = atomic_load_explicit(&python_state, memory_order_relaxed) == UNKNOWN &&
            ml_python_find(&python);
    /* Pairs with the acquire load in ml_python_here: the layout is set. */
    if (found)
        atomic_store_explicit(&python_state, TO_BE_TRIED, memory_order_release);
    ml_table_leave(&python_lock, &inside, &quiet);
    errno = saved_errno;
    return found ? &python : NULL;
}

/* For a thread that may run Python's first code. */
static ML_NOINLINE bool try_here(void)
{
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool runs;

    if (!python.thread_state() || !ml_recorder_in_session() ||
        !ml_table_enter(&python_lock, &inside, &quiet))
        return false;
    runs = learn() == RUNS;
    ml_table_leave(&python_lock, &inside, &quiet);
    errno = saved_errno;
    return runs;
}

const struct ml_python *ml_python_here(void)
{
    uint32_t state = atomic_load_explicit(&python_state, memory_order_acquire);

    if (state == UNKNOWN || state == OFF || inside || ml_writer->busy)
        return NULL;
    return state == RUNS || try_here() ? &python : NULL;
}

/* ---- Numbers --------------------------------------------------------------------- */

static bool reserve_tables(void)
{
    struct ml_table_array arrays[] = {{sizeof(*python_stacks.slots), 2, NULL},
                                      {sizeof(*python_stacks.stacks), 1, NULL},
                                      {sizeof(*python_stacks.frames), FRAMES_PER_STACK, NULL}};
    uint32_t max;

    if (python_stacks.slots)
        return true;
    max = ml_address_arrays(STACKS_MAX, STACKS_LEAST, arrays, ML_ARRAY_SIZE(arrays));
    if (!max)
        return false;
    python_stacks.stacks_max = max;
    python_stacks.stacks = arrays[1].ret_items;
    python_stacks.frames = arrays[2].ret_items;
    /* Pairs with the acquire load in ml_python_stack_here: the other arrays are set. */
    __atomic_store_n(&python_stacks.slots, (_Atomic uint32_t *)arrays[0].ret_items,
                     __ATOMIC_RELEASE);
    return true;
}

static void announce(const struct stack *s)
{
    uint64_t words[2 + ML_STACK_MAX_FRAMES / 2] = {
        ml_record_word(ML_REC_PYTHON_STACK, 0, ml_now())};
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->frames; i++) {
        uint64_t frame = python_stacks.frames[s->first + i];
        if (ml_python_frame_counts((uint32_t)frame)) {
            words[2 + n / 2] |= frame << 32 * (n % 2);
            n++;
        }
    }
    words[1] = ml_pair(s->number, n);
    ml_record(words, 2 + (n + 1) / 2);
}

/* The entry, or NULL and in *ret_slot the slot for it. */
static ML_ALWAYS_INLINE const struct stack *find(const struct ml_python_walk *w, uint32_t *ret_slot)
{
    uint32_t mask = 2 * python_stacks.stacks_max - 1;

    for (uint32_t i = w->hash & mask;; i = (i + 1) & mask) {
        /* Pairs with the release store in add: the whole entry is written. */
        uint32_t entry = atomic_load_explicit(&python_stacks.slots[i], memory_order_acquire);
        const struct stack *s = &python_stacks.stacks[entry];

        if (!entry) {
            *ret_slot = i;
            return NULL;
        }
        if (s->hash == w->hash && s->frames == w->n &&
            ml_python_frames_are(python_stacks.frames + s->first, w->places, w->n))
            return s;
    }
}

/* Writes the frames' numbers after those in use. @return whether all have one */
static bool number_frames(const struct ml_python_walk *w, bool *ret_counts)
{
    *ret_counts = false;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t frame = ml_python_frame(&python, &w->places[i]);
        if (!frame)
            return false;
        python_stacks.frames[python_stacks.used_frames + i] = frame;
        *ret_counts |= ml_python_frame_counts(frame);
    }
    return true;
}

/* @return the entry, NULL: there is no room */
static const struct stack *add(const struct ml_python_walk *w, uint32_t slot)
{
    uint32_t entry = python_stacks.count + 1;
    struct stack *s = &python_stacks.stacks[entry];
    bool counts;

    if (entry == python_stacks.stacks_max ||
        python_stacks.used_frames + w->n > python_stacks.stacks_max * FRAMES_PER_STACK ||
        !number_frames(w, &counts))
        return NULL;
    *s = (struct stack){.hash = w->hash, .frames = w->n, .first = python_stacks.used_frames};
    if (counts && !(s->number = ml_stack_new_number()))
        return NULL;
    python_stacks.used_frames += w->n;
    /* Pairs with the acquire load in ml_python_stack_announce: the entry is written. */
    atomic_store_explicit(&python_stacks.count, entry, memory_order_release);
    if (counts)
        announce(s);
    atomic_store_explicit(&python_stacks.slots[slot], entry, memory_order_release);
    return s;
}

static uint32_t find_or_add(const struct ml_python_walk *w)
{
    const struct stack *s = NULL;
    uint32_t slot;

    if (reserve_tables()) {
        s = find(w, &slot);
        s = s ? s : add(w, slot);
    }
    if (!s)
        ml_recorder_detail_lost();
    return s ? s->number : 0;
}

/* For a new stack or interpreter. */
static ML_NOINLINE uint32_t new_stack(void)
{
    int saved_errno = errno;
    struct ml_python_walk walk;
    struct ml_quiet quiet;
    uint32_t number = 0;

    if (!ml_recorder_in_session() || !ml_table_enter(&python_lock, &inside, &quiet))
        return 0;
    if (learn() == RUNS) {
        ml_python_walk(&python, &walk);
        number = walk.n ? find_or_add(&walk) : 0;
    }
    ml_table_leave(&python_lock, &inside, &quiet);
    errno = saved_errno;
    return number;
}

static ML_NOINLINE uint32_t walk_here(void)
{
    const struct stack *s;
    struct ml_python_walk walk;
    uint32_t slot, number;

    ml_python_walk(&python, &walk);
    if (!walk.n)
        return 0;
    s = find(&walk, &slot);
    number = s ? s->number : new_stack();
    ml_python_recent_keep(&python, number);
    return number;
}

uint32_t ml_python_stack_here(void)
{
    uint32_t state = atomic_load_explicit(&python_state, memory_order_acquire);
    uint32_t number;

    /* Inside a record an announcement has to wait, but a use of the number would not. */
    if (state == OFF || inside || ml_writer->busy)
        return 0;
    if (state != RUNS || !__atomic_load_n(&python_stacks.slots, __ATOMIC_ACQUIRE))
        return new_stack();
    number = ml_python_recent_find(&python);
    return number ? number : walk_here();
}

bool ml_python_is_elsewhere(void)
{
    return atomic_load_explicit(&python_state, memory_order_acquire) == RUNS &&
           !python.thread_state();
}

/* Like ml_python_number_frames. Precondition: the lock is held. */
static bool number_all(const struct ml_python_walk *w, uint32_t *ret)
{
    bool complete = true;

    for (unsigned i = 0; i < w->n; i++) {
        uint32_t frame = ml_python_frame(&python, &w->places[i]);
        ret[i] = frame && ml_python_frame_counts(frame) ? frame : 0;
        complete &= frame != 0;
    }
    if (!complete)
        ml_recorder_detail_lost();
    return complete;
}

/* Numbers the frames that count. Precondition: the lock is held. @return how many were written */
static unsigned number_counting(const struct ml_python_walk *w, uint32_t *ret)
{
    unsigned n = 0;

    number_all(w, ret);
    for (unsigned i = 0; i < w->n; i++) {
        if (ret[i])
            ret[n++] = ret[i];
    }
    return n;
}

/* Runs in malloc. After a wait in vain no thread waits again until the lock has been free, as in
 * stack.c. */
bool ml_python_number_frames(const struct ml_python_walk *w, uint32_t *ret)
{
    static _Atomic bool in_vain;
    int saved_errno = errno;
    struct ml_quiet quiet;
    bool complete;

    if ((atomic_load_explicit(&in_vain, memory_order_relaxed) &&
         ml_lock_is_taken(python_lock.lock())) ||
        !ml_table_enter(&python_lock, &inside, &quiet)) {
        atomic_store_explicit(&in_vain, true, memory_order_relaxed);
        ml_recorder_detail_lost();
        return false;
    }
    atomic_store_explicit(&in_vain, false, memory_order_relaxed);
    complete = number_all(w, ret);
    ml_table_leave(&python_lock, &inside, &quiet);
    errno = saved_errno;
    return complete;
}

void ml_python_frames_here(struct ml_python_frames *ret)
{
    int saved_errno = errno;
    struct ml_python_walk walk;
    struct ml_quiet quiet;

    ret->n = 0;
    if (inside || ml_writer->busy || !ml_recorder_in_session() ||
        atomic_load_explicit(&python_state, memory_order_relaxed) == OFF ||
        !ml_table_enter(&python_lock, &inside, &quiet))
        return;
    if (learn() == RUNS) {
        ml_python_walk(&python, &walk);
        ret->n = number_counting(&walk, ret->numbers);
        ret->interpreter = (uintptr_t)python.thread_state;
    }
    ml_table_leave(&python_lock, &inside, &quiet);
    errno = saved_errno;
}

/* Takes no lock, like announce_native in stack.c: entries that `count` covers do not change. */
void ml_python_stack_announce(void)
{
    uint32_t n = atomic_load_explicit(&python_stacks.count, memory_order_acquire);

    ml_python_frames_announce();
    for (uint32_t i = 1; i <= n; i++) {
        if (python_stacks.stacks[i].number)
            announce(&python_stacks.stacks[i]);
    }
}
