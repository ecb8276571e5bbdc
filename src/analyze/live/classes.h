/* classes.h: the category and the label of every allocation of a trace. classify.h finds them and
 * a replay uses them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CLASSES_H
#define ML_ANALYZE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* The label of one allocation. There may be as many as live blocks. */
struct ml_class_label {
    uint64_t ordinal : 40;
    uint64_t label : 24; /* string, stored as in blocks: see ml_block_number() */
};
_Static_assert(sizeof(struct ml_class_label) == 8, "one for each block that has a label");

/* Allocations are numbered by their events, ML_ALLOC and ML_ALLOC_EX, from 0. */
struct ml_classes {
    bool known;                           /* false: empty, see classify.h */
    ML_VEC(uint8_t) categories;           /* by ordinal */
    ML_VEC(struct ml_class_label) labels; /* sorted by ordinal, at most one for each */
    /* Bytes allocated in backward over the whole run; those of them that are in a scope with a
     * module or have a label. */
    uint64_t backward_bytes, backward_named_bytes;
};

#endif
