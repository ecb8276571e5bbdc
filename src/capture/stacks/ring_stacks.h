/* ring_stacks.h: the numbers of a thread's stacks, in its ring.
 *
 * A stack is announced in the ring before its number is used there. The table is a cache: where it
 * is full, a new stack takes the number of an older one, which is announced again if it returns.
 * The collector recognises stacks by their frames, so nothing is lost, and the memory of a thread
 * is bounded however many stacks it has. No lock is needed.
 *
 * Stacks are told apart by their hash and by their innermost frame. Two different stacks of one
 * innermost frame have the same 64-bit hash by chance once in some 10^13 pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RING_STACKS_H
#define ML_RING_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct ml_stack_key {
    uint64_t hash; /* of all frames */
    uint32_t innermost;
    uint32_t unloads; /* libraries were unloaded so many times before */
};

#define ML_RING_STACKS_WAYS 4u /* places for a stack: one cache line */

/* All zero bytes is an empty table. */
struct ml_ring_stacks {
    struct ml_stack_key *entries; /* by number, from 0; hash 0: empty */
    uint32_t sets;                /* of ML_RING_STACKS_WAYS entries; a power of two */
    uint32_t replaced;            /* since the table has this size */
    bool stays;                   /* there is no room for a larger one */
};

static ML_ALWAYS_INLINE struct ml_stack_key ml_stack_key(uint64_t hash, uint64_t innermost,
                                                         uint32_t unloads)
{
    return (struct ml_stack_key){
        .hash = hash ? hash : 1, .innermost = (uint32_t)innermost, .unloads = unloads};
}

static ML_ALWAYS_INLINE bool ml_stack_key_is(const struct ml_stack_key *a,
                                             const struct ml_stack_key *b)
{
    return a->hash == b->hash && a->innermost == b->innermost && a->unloads == b->unloads;
}

static ML_ALWAYS_INLINE uint32_t ml_ring_stacks_set(const struct ml_ring_stacks *t, uint64_t hash)
{
    return (uint32_t)(hash >> 24) & (t->sets - 1);
}

/* The number, from 1; 0: the stack has none now. */
static ML_ALWAYS_INLINE uint32_t ml_ring_stacks_find(const struct ml_ring_stacks *t,
                                                     const struct ml_stack_key *key)
{
    uint32_t first;

    if (ML_UNLIKELY(!t->sets))
        return 0;
    first = ml_ring_stacks_set(t, key->hash) * ML_RING_STACKS_WAYS;
    for (uint32_t i = 0; i < ML_RING_STACKS_WAYS; i++) {
        if (ml_stack_key_is(&t->entries[first + i], key))
            return first + i + 1;
    }
    return 0;
}

/* Whether a stack still has its number. */
static inline bool ml_ring_stacks_has(const struct ml_ring_stacks *t, uint32_t number,
                                      const struct ml_stack_key *key)
{
    return number && number <= t->sets * ML_RING_STACKS_WAYS &&
           ml_stack_key_is(&t->entries[number - 1], key);
}

/* Announces a stack that has no number, innermost frame first. Another may lose its number.
 * Precondition: the thread has a ring and is not inside a record; the libraries of the frames have
 * been announced.
 * @return 0: the record was lost, or there is no memory for the table */
uint32_t ml_ring_stacks_add(struct ml_ring_stacks *t, const struct ml_stack_key *key,
                            const uint64_t *frames, uint32_t n);

/* For a ring in which nothing is announced yet. Keeps the memory. */
void ml_ring_stacks_forget(struct ml_ring_stacks *t);

#endif
