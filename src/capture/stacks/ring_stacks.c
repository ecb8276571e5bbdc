/* ring_stacks.c: see ring_stacks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ring_stacks.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "address_room.h"
#include "record.h"
#include "recorder.h"

/* A page at first, a MiB at most. */
#define SETS_FIRST 64u
#define GROWTH 4u
#define SETS_MAX (ML_RING_STACKS_MAX / ML_RING_STACKS_WAYS)

static size_t bytes_of(uint32_t sets)
{
    return sets * ML_RING_STACKS_WAYS * sizeof(struct ml_stack_key);
}

/* All stacks lose their numbers. In this order for a handler that leaves by longjmp: the table
 * never has more sets than entries, and its entries are mapped. */
static bool resize(struct ml_ring_stacks *t, uint32_t sets)
{
    int saved_errno = errno;
    struct ml_ring_stacks old = *t;
    struct ml_stack_key *entries = NULL;

    if (bytes_of(sets) <= ml_address_share())
        entries = ml_recorder_map_wiped(bytes_of(sets));
    if (entries) {
        t->entries = entries;
        atomic_signal_fence(memory_order_seq_cst);
        t->sets = sets;
        t->replaced = 0;
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (entries && old.entries)
        ml_recorder_unmap_wiped(old.entries, bytes_of(old.sets));
    errno = saved_errno;
    return entries;
}

/* Grows when half as many stacks were replaced as there is room for. */
static bool make_room(struct ml_ring_stacks *t)
{
    if (ML_UNLIKELY(!t->sets)) {
        if (!t->stays)
            t->stays = !resize(t, SETS_FIRST);
        return t->sets;
    }
    if (t->replaced > t->sets * ML_RING_STACKS_WAYS / 2 && t->sets < SETS_MAX && !t->stays)
        t->stays = !resize(t, t->sets * GROWTH);
    return true;
}

/* A place that is empty or outdated, else each in turn. */
static struct ml_stack_key *place_for(struct ml_ring_stacks *t, const struct ml_stack_key *key)
{
    struct ml_stack_key *set = t->entries + ml_ring_stacks_set(t, key->hash) * ML_RING_STACKS_WAYS;

    for (uint32_t i = 0; i < ML_RING_STACKS_WAYS; i++) {
        if (!set[i].hash || set[i].unloads != key->unloads)
            return &set[i];
    }
    return &set[t->replaced++ % ML_RING_STACKS_WAYS];
}

static bool announce(uint32_t number, const uint64_t *frames, uint32_t n)
{
    uint64_t words[2 + ML_STACK_MAX_FRAMES] = {ml_record_word(ML_REC_RING_STACK, 0, ml_now()),
                                               ml_pair(number, n)};

    memcpy(&words[2], frames, n * sizeof(*frames));
    return ml_record_kept(words, 2 + n);
}

/* An entry is written last: a handler that leaves by longjmp leaves none without its record. */
uint32_t ml_ring_stacks_add(struct ml_ring_stacks *t, const struct ml_stack_key *key,
                            const uint64_t *frames, uint32_t n)
{
    struct ml_stack_key *place;
    uint32_t number;

    if (!make_room(t))
        return 0;
    place = place_for(t, key);
    number = (uint32_t)(place - t->entries) + 1;
    place->hash = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (!announce(number, frames, n))
        return 0;
    atomic_signal_fence(memory_order_seq_cst);
    *place = *key;
    return number;
}

void ml_ring_stacks_forget(struct ml_ring_stacks *t)
{
    if (t->sets)
        memset(t->entries, 0, bytes_of(t->sets));
    t->replaced = 0;
}
