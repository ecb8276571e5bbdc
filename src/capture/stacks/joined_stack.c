/* joined_stack.c: see joined_stack.h.
 *
 * The address of an instruction says which it is while no code object is freed. Afterwards the code
 * objects' own fields are compared once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "joined_stack.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "address_room.h"
#include "code_object.h"
#include "compiler.h"
#include "python_recent.h"
#include "python_stack.h"
#include "python_walk.h"
#include "record.h"
#include "recorder.h"
#include "stack_join.h"
#include "stack_table.h"

#define WAYS_BITS 11

struct kept_joined {
    uint64_t trail;
    uint64_t places;         /* a hash of the Python frames' places */
    uint64_t freed;          /* code objects, when these were last compared */
    struct ml_stack_key key; /* in the ring */
    uint32_t number;         /* 0: none is kept */
};

/* Of one thread. In memory of its own, because the stack may be small. */
struct ml_joined_stacks {
    struct kept_joined kept[1u << WAYS_BITS];
    struct ml_python_walk walk;
    uint32_t numbers[ML_STACK_MAX_FRAMES];
    uint64_t frames[ML_STACK_MAX_FRAMES];
};

/* NULL: there is no room. */
static ML_NOINLINE struct ml_joined_stacks *map_stacks(void)
{
    int saved_errno = errno;
    struct ml_joined_stacks *stacks = NULL;

    if (ml_writer->ring && sizeof(*stacks) <= ml_address_share())
        stacks = ml_recorder_map_wiped(sizeof(*stacks));
    if (stacks)
        ml_writer->joined_stacks = stacks;
    errno = saved_errno;
    return stacks;
}

bool ml_joined_begin(struct ml_joined *ret, const struct ml_native_part *native)
{
    const struct ml_python *py = ml_python_here();
    uint64_t trail = py ? ml_python_trail(py) : 0;
    struct ml_joined_stacks *stacks;

    if (!trail)
        return false;
    stacks = ml_writer->joined_stacks;
    if (ML_UNLIKELY(!stacks))
        stacks = map_stacks();
    trail = ml_stack_hash(native->hash, trail);
    *ret = (struct ml_joined){
        .py = py,
        .trail = trail,
        .place = stacks ? &stacks->kept[trail >> (64 - WAYS_BITS)] : NULL,
    };
    return true;
}

static uint64_t hash_places(const struct ml_python_walk *w)
{
    static_assert(sizeof(w->places[0]) == 4 * sizeof(uint64_t) + 2 * sizeof(uint32_t),
                  "a place has no padding");
    return XXH3_64bits(w->places, w->n * sizeof(w->places[0]));
}

/* Whether the code that the stack was kept with is still there. */
static ML_NOINLINE bool same_code(const struct ml_joined *j, uint64_t freed)
{
    struct ml_python_walk *walk = &ml_writer->joined_stacks->walk;

    ml_python_walk(j->py, walk);
    if (hash_places(walk) != j->place->places)
        return false;
    j->place->freed = freed;
    return true;
}

uint32_t ml_joined_find(const struct ml_joined *j, const struct ml_ring_stacks *numbers)
{
    const struct kept_joined *k = j->place;
    uint64_t freed;
    bool counted;

    if (!k || k->trail != j->trail || !ml_ring_stacks_has(numbers, k->number, &k->key))
        return 0;
    counted = ml_python_freed_codes(j->py, &freed);
    return (counted && freed == k->freed) || same_code(j, freed) ? k->number : 0;
}

/* The code of the interpreter's loop. */
static struct ml_address_range loop_code(const struct ml_python *py)
{
    struct ml_code_object object;
    struct ml_cfi_entry entry;

    if (py->layout.runs != ML_PYTHON_RUNS_ONE || !py->loop ||
        !ml_code_object_at(py->loop, &object) || !object.cfi.header ||
        ml_cfi_find(&object.cfi, py->loop, &entry) != ML_CFI_FOUND)
        return (struct ml_address_range){0};
    return (struct ml_address_range){entry.begin, entry.end};
}

uint32_t ml_joined_frames(const struct ml_joined *j, const struct ml_native_part *native,
                          const uint64_t **ret)
{
    struct ml_joined_stacks *s = ml_writer->joined_stacks;
    struct ml_join join;

    *ret = NULL;
    if (!s) {
        ml_recorder_detail_lost();
        return 0;
    }
    ml_python_walk(j->py, &s->walk);
    if (!ml_python_number_frames(&s->walk, s->numbers))
        return 0;
    join = (struct ml_join){
        .pcs = native->pcs,
        .sps = native->sps,
        .native = native->n,
        .is_cut = native->is_cut,
        .numbers = s->numbers,
        .runners = s->walk.runners,
        .python = s->walk.n,
        .loop = native->n ? loop_code(j->py) : (struct ml_address_range){0},
    };
    *ret = s->frames;
    return ml_stack_join(&join, s->frames);
}

/* A handler that leaves by longjmp leaves no number without its key. */
void ml_joined_keep(const struct ml_joined *j, const struct ml_stack_key *key, uint32_t number)
{
    struct kept_joined *k = j->place;
    uint64_t freed;

    if (!k)
        return;
    k->number = 0;
    atomic_signal_fence(memory_order_seq_cst);
    k->trail = j->trail;
    k->places = hash_places(&ml_writer->joined_stacks->walk);
    k->key = *key;
    ml_python_freed_codes(j->py, &freed);
    k->freed = freed;
    atomic_signal_fence(memory_order_seq_cst);
    k->number = number;
}
