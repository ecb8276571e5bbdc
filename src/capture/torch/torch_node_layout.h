/* torch_node_layout.h: where a node of autograd's graph has its numbers, and whether the values
 * there are plausible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_NODE_LAYOUT_H
#define ML_TORCH_NODE_LAYOUT_H

#include <stdint.h>

#define ML_TORCH_NODE_BYTES 56 /* the part of a node that is read; all nodes are larger */

struct ml_torch_numbers {
    uint64_t tape;   /* the thread that created it, as PyTorch counts threads: from 1 */
    uint64_t number; /* among the nodes of that thread, or ML_TORCH_NO_NUMBER */
};
#define ML_TORCH_NO_NUMBER UINT64_MAX

/* The state of a thread according to PyTorch's own functions. */
struct ml_torch_counter {
    uint64_t tape;
    uint64_t next; /* the number that its next node gets */
};

enum ml_torch_fit { ML_TORCH_UNDECIDED, ML_TORCH_FITS, ML_TORCH_STRANGE };

/* @copy  ML_TORCH_NODE_BYTES of the node, aligned
 * @node  their address */
struct ml_torch_numbers ml_torch_numbers_in(const void *copy, const void *node);

/* Compares them with the counters of the thread that runs the node, and of the last that asked for
 * a backward pass. A number that its thread has assigned fits; one that this thread has not
 * assigned, or that cannot be a number, is strange. */
enum ml_torch_fit ml_torch_numbers_fit(const struct ml_torch_numbers *n,
                                       const struct ml_torch_counter *here,
                                       const struct ml_torch_counter *backward);

#endif
