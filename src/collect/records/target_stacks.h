/* target_stacks.h: the libraries and stacks that a target announces, in the
 * trace's numbers.
 *
 * A native stack arrives as return addresses. Each is looked up in the library that was
 * announced last at that address, which is the one that was loaded when the stack was
 * announced. A Python stack arrives as frames that were announced before it, which may
 * also end a native one. All stacks share one sequence of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_STACKS_H
#define ML_TARGET_STACKS_H

#include "dict.h"
#include "target.h"

/* ML_REC_LIBRARY, ML_REC_STACK, ML_REC_PYTHON_FRAME, ML_REC_PYTHON_STACK: the
 * record that s is at. */
void ml_target_take_library(struct ml_dict *dict, struct ml_source *s);
void ml_target_take_stack(struct ml_dict *dict, struct ml_source *s);
void ml_target_take_python_frame(struct ml_dict *dict, struct ml_source *s);
void ml_target_take_python_stack(struct ml_dict *dict, struct ml_source *s);

/* The trace's number of a frame in such a record, -1: unknown. */
int64_t ml_target_frame(struct ml_dict *dict, struct ml_target *t, uint64_t word);

/* The trace's number of a target's stack, 0: not announced. */
static inline uint32_t ml_target_stack(const struct ml_target *t, uint64_t number)
{
    return number < t->stacks.len ? t->stacks.items[number] : 0;
}

#endif
