/* inner_path.h: what was done once in a scope, done again in one of the same name: a graph
 * is made in one step of training, with all its parts, and runs in others as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INNER_PATH_H
#define ML_INNER_PATH_H

#include <stdint.h>

#include "dict.h"

struct ml_inner_path {
    uint32_t scope;
    uint32_t depth;
};

/* From `here` on by the part of the path to `made` that lies in a scope of the name that
 * `here` has; the innermost where there are several. Phases and operators in it are left
 * out. `here` itself, where there is no such scope. */
struct ml_inner_path ml_inner_path(struct ml_dict *dict, struct ml_inner_path here, uint32_t made);

#endif
