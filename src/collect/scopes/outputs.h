/* outputs.h: labels for blocks that a piece of work will allocate, by their sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OUTPUTS_H
#define ML_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

struct ml_work_output {
    uint64_t size; /* 0: it was allocated */
    uint32_t category, label;
};

/* Of one piece of work; further ones have no label. */
#define ML_OUTPUTS_OF_WORK 8
struct ml_outputs {
    struct ml_work_output items[ML_OUTPUTS_OF_WORK];
    uint32_t count;
};

/* The outputs of all work that waits, in a ring: the oldest are overwritten. */
#define ML_OUTPUTS_MAX (1u << 14)
struct ml_waiting_outputs {
    ML_VEC(struct ml_work_output) ring;
    uint64_t told; /* announced so far */
};

/* The waiting outputs of one piece of work; all zero bytes: none. */
struct ml_output_range {
    uint64_t first;
    uint32_t count;
};

void ml_outputs_add(struct ml_outputs *outputs, struct ml_work_output output);

/* Takes the first of that size. */
bool ml_outputs_take(struct ml_outputs *outputs, uint64_t size, struct ml_work_output *ret);

/* They wait from now on; empties `outputs`. */
struct ml_output_range ml_outputs_wait(struct ml_waiting_outputs *waiting,
                                       struct ml_outputs *outputs);
bool ml_outputs_take_waiting(struct ml_waiting_outputs *waiting, struct ml_output_range range,
                             uint64_t size, struct ml_work_output *ret);

void ml_outputs_release(struct ml_waiting_outputs *waiting);

#endif
