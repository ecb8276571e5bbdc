/* tensors.h: which block a tensor lies in, and names for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TENSORS_H
#define ML_TENSORS_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it is a torch.Tensor itself, not of a class made from it: those may have
 * no memory of their own. */
bool ml_tensor_is_plain(PyObject *object);

/* Where a tensor's memory lies. */
struct ml_tensor_block {
    uintptr_t address; /* the block's, 0: none */
    int cuda_device;   /* -1: the host */
    bool begins;       /* the tensor begins where the block does */
};

/* Where the tensor itself begins, 0: nowhere. Of these two no exception is left behind. */
uintptr_t ml_tensor_data(PyObject *tensor);
struct ml_tensor_block ml_tensor_block(PyObject *tensor);

/* Labels the block that the tensor lies in; one that has none is passed over. */
void ml_tensor_label(PyObject *tensor, uint32_t name, int category);
void ml_block_label(const struct ml_tensor_block *block, uint32_t name, int category);

/* Labels the tensors among the arguments of the outermost module, the first of
 * which is the module itself. */
void ml_tensors_label_inputs(PyObject *args, PyObject *kwargs);

#endif
