/* tensors.h: the block that contains a tensor, and names for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TENSORS_H
#define ML_TENSORS_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it is a torch.Tensor itself, not an instance of a subclass, which may have no
 * memory. */
bool ml_tensor_is_plain(PyObject *object);

/* Whether it is that, or a torch.nn.Parameter itself: it has its own memory, if any. */
bool ml_tensor_has_fields(PyObject *object);

/* The block that contains a tensor's memory. */
struct ml_tensor_block {
    uintptr_t address; /* the block's, 0: none */
    int cuda_device;   /* -1: the host */
    bool begins;       /* the tensor is at the start of the block */
};

/* The address of the tensor's data, 0: none. Both functions leave no exception set. */
uintptr_t ml_tensor_data(PyObject *tensor);
struct ml_tensor_block ml_tensor_block(PyObject *tensor);

/* Labels the block that contains the tensor, if any. */
void ml_tensor_label(PyObject *tensor, uint32_t name, int category);
void ml_block_label(const struct ml_tensor_block *block, uint32_t name, int category);

/* Labels the tensors among the arguments of the outermost module; the first argument is the
 * module itself. */
void ml_tensors_label_inputs(PyObject *args, PyObject *kwargs);

#endif
