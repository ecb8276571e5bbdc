/* mxnet_outputs.h: names for the arrays that nodes of MXNet's graphs write, and for the
 * room that operators borrow.
 *
 * An array has its memory when it is first written, often on another thread than the one
 * that knows which node writes it. What the two have in common is the array's chunk: its
 * address is told with the name, and again when the block is born.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_OUTPUTS_H
#define ML_MXNET_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mxnet_exchange.h"

/* As ml_mxnet_storage_feature. */
const struct ml_mxnet_feature *ml_mxnet_outputs_feature(const struct ml_mxnet_layout *layout);

/* The node will write these: a std::vector of addresses of arrays, or of arrays.
 * @is_first  no other writes them before */
void ml_mxnet_expect_outputs(const char *node, const void *vector, bool is_first);
uint64_t ml_mxnet_expect_own_outputs(const char *node, const void *vector);

/* It has. @which  what the other returned: those whose birth does not tell them */
void ml_mxnet_label_own_outputs(const char *node, const void *vector, uint64_t which);

/* What is born for the key is what backward number i of several begins with. */
void ml_mxnet_expect_head_gradient(uintptr_t key, unsigned i);
void ml_mxnet_expect_no_more(uintptr_t key);

/* A block was born, and recorded. `handle` is what it was asked for with. */
void ml_mxnet_name_block(uint32_t in, const void *block, const void *handle);

#endif
