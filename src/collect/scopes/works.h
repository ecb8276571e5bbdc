/* works.h: work that threads hand to others, and where it came from.
 *
 * A thread submits work under a key of its choice, an address; another takes it. Works
 * under one key are taken in the order of their submission. Works that are never taken are
 * forgotten when there are too many, all at once, so that later ones are known again. The same
 * happens when records were lost, which may have been submissions or takes.
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
    uint32_t scope;     /* that the thread was in */
    uint32_t depth;     /* of the scope */
    uint32_t stack;     /* of the thread, 0: not known */
    uint32_t name;      /* of the operator, 0: the taker names it */
    uint32_t operators; /* enum ml_operator_flags of its operators */
    struct ml_output_range outputs;
};

struct ml_work_place {
    struct ml_work work;
    uint32_t next; /* index + 1 of the next one under the key, or of the next free one; 0: none */
};

/* All zero bytes is a valid empty one. */
struct ml_works {
    struct ml_map by_key; /* to the indexes + 1 of the first and the last, first:last */
    ML_VEC(struct ml_work_place) places;
    uint32_t free;    /* index + 1 of the first free one */
    uint64_t dropped; /* works without room; the code that reports them sets it to 0 */
};

void ml_works_release(struct ml_works *works);

/* Without memory the work is unknown when it is taken. */
void ml_works_put(struct ml_works *works, uint64_t key, struct ml_work work);

/* @return whether there was one under the key */
bool ml_works_take(struct ml_works *works, uint64_t key, struct ml_work *ret);

/* Moves the works under `from` to `to`, where they replace any others. */
void ml_works_move(struct ml_works *works, uint64_t from, uint64_t to);

void ml_works_forget_all(struct ml_works *works);

#endif
