/* mxnet_arrays.h: the blocks of an MXNet array.
 *
 * MXNet's own function, MXNDArrayGetData, allocates the array's memory if it has none yet, and may
 * wait for the engine. This code only reads the array's own words: the pointer to a block is NULL
 * until an engine thread has allocated it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_ARRAYS_H
#define ML_MXNET_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "mxnet_layout.h"

/* Its data; a sparse array also has indices: one more block for row_sparse, two for csr, the first
 * of which has the beginning of each row. */
#define ML_MXNET_PARTS_MAX 3

struct ml_mxnet_block {
    const void *ptr; /* NULL: not allocated */
    uint64_t bytes;
    int32_t device_type, device_id;
};

/* What follows the name of an array in the label of one of its parts. */
static inline const char *ml_mxnet_part_suffix(unsigned part, unsigned parts)
{
    if (!part)
        return "";
    if (parts == 2)
        return ":row_sparse:idx";
    return part == 1 ? ":csr:ind_ptr" : ":csr:idx";
}

/* Call once MXNet is known. */
void ml_mxnet_arrays_begin(const struct ml_mxnet_layout *layout);

/* @array  the NDArrayHandle of an existing array
 * @return the number of its parts; 0: none, or MXNet is unknown */
unsigned ml_mxnet_array_blocks(const void *array, struct ml_mxnet_block ret[ML_MXNET_PARTS_MAX]);

/* Whether its memory belongs to the program or to another library, such as NumPy.
 * @array  likewise */
bool ml_mxnet_array_is_foreign(const void *array);

/* Its node in the graph of autograd, which changes when a gradient is attached.
 * @array  likewise
 * @return NULL: none, or MXNet is unknown */
const void *ml_mxnet_autograd_node(const void *array);

#endif
