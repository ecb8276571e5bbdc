/* classes.h: the category and the label of every allocation of a trace, as classify.h finds
 * them and a replay uses them.
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
    uint64_t label : 24; /* string, as blocks have it: see ml_block_number() */
};
_Static_assert(sizeof(struct ml_class_label) == 8, "one for each block that has a label");

/* Allocations are numbered by their events, ML_ALLOC and ML_ALLOC_EX, from 0. */
struct ml_classes {
    bool known;                           /* false: empty, see classify.h */
    ML_VEC(uint8_t) categories;           /* by ordinal */
    ML_VEC(struct ml_class_label) labels; /* lowest ordinal first, one for each */
    /* Allocated in backward over the whole run; of it in a scope with a module, or
     * labelled. */
    uint64_t backward_bytes, backward_named_bytes;
};

#endif
