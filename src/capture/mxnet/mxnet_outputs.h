/* mxnet_outputs.h: names for the arrays that nodes of MXNet's graphs write, and for the memory that
 * operators borrow.
 *
 * An array gets its memory when it is first written, often on another thread than the one that
 * knows which node writes it. Both know the array's chunk: its address is recorded with the name,
 * and again when the block is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_OUTPUTS_H
#define ML_MXNET_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "memledger/memledger.h"

/* The node will write these: a std::vector of addresses of arrays, or of arrays.
 * @is_first  no other node writes them before */
void ml_mxnet_expect_outputs(const char *node, const void *vector, bool is_first);
uint64_t ml_mxnet_expect_own_outputs(const char *node, const void *vector);

/* The node has run. @which  the result of ml_mxnet_expect_own_outputs: arrays that their allocation
 * does not identify */
void ml_mxnet_label_own_outputs(const char *node, const void *vector, uint64_t which);

/* The block that an array without memory will get. */
void ml_mxnet_expect_array(const void *array, enum memledger_category category, uint32_t label);

/* The block allocated for the key is gradient number i with which backward begins. */
void ml_mxnet_expect_head_gradient(uintptr_t key, unsigned i);
void ml_mxnet_expect_no_more(uintptr_t key);

/* A block was allocated and recorded. `handle` is the one that it was allocated with. */
void ml_mxnet_name_block(uint32_t in, const void *block, const void *handle);

#endif
