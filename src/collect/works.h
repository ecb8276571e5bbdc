/* works.h: work that threads hand over to others, and where it came from.
 *
 * A thread hands work over under a key of its own choice, an address; another takes it.
 * What was handed over under one key is taken in the same order. What nobody ever takes is
 * forgotten when there is too much of it, all at once: then the next ones are known
 * again. The same where records were lost, which might have been of either sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WORKS_H
#define ML_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "map.h"
#include "outputs.h"
#include "vec.h"

#define ML_WORKS_MAX (1u << 16)

struct ml_work {
    uint32_t scope; /* that the thread was in */
    uint32_t depth; /* of the scope */
    uint32_t stack; /* of the thread, 0: not known */
    uint32_t name;  /* of the operator, 0: whoever takes it says */
    struct ml_output_range outputs;
};

struct ml_work_place {
    struct ml_work work;
    uint32_t next; /* place + 1 of the next one under the key, or that is free; 0: none */
};

/* All zero bytes is a valid empty one. */
struct ml_works {
    struct ml_map by_key; /* to the places + 1 of the first and the last, first:last */
    ML_VEC(struct ml_work_place) places;
    uint32_t free;    /* place + 1 of the first that is free */
    uint64_t dropped; /* works that there was no room for, until whoever tells sets it to 0 */
};

void ml_works_release(struct ml_works *works);

/* Without memory the work is not known when it is taken. */
void ml_works_put(struct ml_works *works, uint64_t key, struct ml_work work);

/* @return whether there was some under the key */
bool ml_works_take(struct ml_works *works, uint64_t key, struct ml_work *ret);

/* What is under `from` is under `to` from now on, in the place of what was. */
void ml_works_move(struct ml_works *works, uint64_t from, uint64_t to);

void ml_works_forget_all(struct ml_works *works);

#endif
