/* inner_path.h: the scope of work that was set up in one scope and runs later in another of the
 * same name: a graph is made in one training step, with all its parts, and runs in later steps.
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

/* Follows from `here` the part of the path to `made` that is inside a scope with the name of
 * `here`; the innermost such scope if there are several. Leaves out phases and operators.
 * @return `here` itself if there is no such scope */
struct ml_inner_path ml_inner_path(struct ml_dict *dict, struct ml_inner_path here, uint32_t made);

#endif
