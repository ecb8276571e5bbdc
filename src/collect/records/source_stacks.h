/* source_stacks.h: the stacks that a thread announces in its own ring.
 *
 * A program with many stacks announces some of them again and again. Most have their callers in
 * common with the one before: of those only the frames that differ are looked up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SOURCE_STACKS_H
#define ML_SOURCE_STACKS_H

#include <stdint.h>

#include "dict.h"
#include "ring.h"
#include "target.h"
#include "target_stacks.h"

struct ml_source_stacks {
    ML_VEC(uint32_t) numbers; /* the ring's -> the trace's; 0: not defined */
    /* The last one, outermost frame first. */
    uint32_t libraries; /* of the target: their version then */
    uint32_t n;
    uint64_t frames[ML_STACK_MAX_FRAMES];
    uint32_t nodes[ML_STACK_MAX_FRAMES]; /* the trace's number of each frame with its callers */
};

/* ML_REC_RING_STACK: the record that s is at. */
void ml_source_take_stack(struct ml_dict *dict, struct ml_source *s);

void ml_source_stacks_free(struct ml_source_stacks *stacks);

/* The trace's number of a stack in a record of this ring, 0: not announced. */
static inline uint32_t ml_source_stack(const struct ml_source *s, uint64_t number)
{
    if (!(number & ML_STACK_OF_RING))
        return ml_target_stack(s->target, number);
    number &= ~(uint64_t)ML_STACK_OF_RING;
    return s->stacks && number < s->stacks->numbers.len ? s->stacks->numbers.items[number] : 0;
}

#endif
