/* backward.h: the scope of the backward pass that belongs to a forward scope: the same path
 * below phase "backward".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BACKWARD_H
#define ML_BACKWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "map.h"
#include "vec.h"

struct ml_backward_scope {
    uint32_t scope;
    uint32_t depth;  /* of the root: 0 */
    bool has_module; /* a module that is not a function of the program is in its path */
};

/* The backward scopes made so far. All zero bytes is a valid empty one. */
struct ml_backward {
    struct ml_map by_forward; /* to the index in made */
    ML_VEC(struct ml_backward_scope) made;
};

void ml_backward_release(struct ml_backward *b);

/* The backward scope of `forward`; 0: for blocks without a known scope. The path leaves out phases,
 * so that blocks of recomputed modules (activation checkpointing) are beside those of the
 * first run, and operators of the backward pass itself. A path that would be too deep loses
 * its inner end. */
struct ml_backward_scope ml_backward_scope(struct ml_backward *b, struct ml_dict *dict,
                                           uint32_t forward);

#endif
