/* joined_stack.h: the Python frames of a call that a program makes very often, alone or together
 * with its native ones.
 *
 * A thread keeps the numbers of its last stacks, by a hash of the instructions that its Python
 * frames are at. Names and lines are looked up for new stacks only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_JOINED_STACK_H
#define ML_JOINED_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "python_find.h"
#include "ring_stacks.h"

/* The native part, innermost frame first. All zero: none. */
struct ml_native_part {
    const uint64_t *pcs;
    const uintptr_t *sps;
    uint32_t n;
    bool is_cut;
    uint64_t hash;
};

/* The stack that the calling thread has now. */
struct ml_joined {
    const struct ml_python *py;
    uint64_t trail;            /* of both parts */
    struct kept_joined *place; /* where its number is kept; NULL: there is no room */
};

/* Whether the thread runs Python. Otherwise the rest must not be called. Keeps errno. */
bool ml_joined_begin(struct ml_joined *ret, const struct ml_native_part *native);

/* The number that the stack has in the ring; 0: none now. */
uint32_t ml_joined_find(const struct ml_joined *j, const struct ml_ring_stacks *numbers);

/* The frames of a stack without a number, as words of ML_REC_RING_STACK. They have been announced.
 * Valid until the thread's next call. *ret: NULL if there is no room. @return how many */
uint32_t ml_joined_frames(const struct ml_joined *j, const struct ml_native_part *native,
                          const uint64_t **ret);

/* Keeps the number that ml_ring_stacks_add gave it. */
void ml_joined_keep(const struct ml_joined *j, const struct ml_stack_key *key, uint32_t number);

#endif
