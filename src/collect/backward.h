/* backward.h: where what was done in a scope is undone: the scope's path again, below
 * phase "backward".
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
    uint32_t depth;  /* of the root 0 */
    bool has_module; /* a scope of kind module is in its path */
};

/* Those that were made. All zero bytes is a valid empty one. */
struct ml_backward {
    struct ml_map by_forward; /* to the place in made */
    ML_VEC(struct ml_backward_scope) made;
};

void ml_backward_release(struct ml_backward *b);

/* The scope that undoes `forward`, 0: what no scope is known of. Phases are left
 * out of its path, so that what is made while going back (activation checkpointing
 * runs modules again) lands beside what was made before; so are operators of the
 * backward pass itself. A path that would be too deep loses its inner end. */
struct ml_backward_scope ml_backward_scope(struct ml_backward *b, struct ml_dict *dict,
                                           uint32_t forward);

#endif
