/* mxnet_arrays.h: which blocks an array of MXNet's lies in.
 *
 * MXNet's own question, MXNDArrayGetData, allocates the array's memory if it has none
 * yet, and may wait for the engine. Here only the array's own words are read: where a
 * block is to be, there is nothing until a thread of the engine's got it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_ARRAYS_H
#define ML_MXNET_ARRAYS_H

#include <stdint.h>

#include "mxnet_layout.h"

/* Its data; of a sparse one also its indices: one block more for row_sparse, two for
 * csr, where the first has where each row begins. */
#define ML_MXNET_PARTS_MAX 3

struct ml_mxnet_block {
    const void *ptr; /* NULL: not allocated */
    int32_t device_type, device_id;
};

/* Once MXNet is known. */
void ml_mxnet_arrays_begin(const struct ml_mxnet_layout *layout);

/* @array  an NDArrayHandle that is alive
 * @return how many parts it has; 0: none, or MXNet is not known */
unsigned ml_mxnet_array_blocks(const void *array, struct ml_mxnet_block ret[ML_MXNET_PARTS_MAX]);

#endif
