/* shared_gradients.h: gradients that are parts of one block, such as the buckets of DDP and the
 * results of a reduce-scatter in FSDP. The block is named by all parameters whose gradients it has.
 *
 * For threads that hold Python's lock. A pass over all gradients adds each and then labels the
 * blocks that are shared. The tracked tensors stay as long as their list is in use
 * (tracked_list.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SHARED_GRADIENTS_H
#define ML_SHARED_GRADIENTS_H

#include "tensors.h"
#include "tracked_list.h"

struct ml_shared_gradients {
    struct ml_shared_gradient *items;
    size_t len, room;
    bool any; /* a gradient does not begin where its block does */
};

/* Without memory the gradient has its own name only. */
void ml_shared_gradients_add(struct ml_shared_gradients *shared, struct ml_tracked *of,
                             const struct ml_tensor_block *block);

/* Releases what was added. Leaves no exception set, except an interrupt or an exit. */
void ml_shared_gradients_label(struct ml_shared_gradients *shared);

#endif
