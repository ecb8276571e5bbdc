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

/* Labels the block that the tensor lies in; one that has none is passed over. No
 * exception is left behind.
 * @return the block's address, 0: none */
uintptr_t ml_tensor_label(PyObject *tensor, uint32_t name, int category);

/* Labels the tensors among the arguments of the outermost module, the first of
 * which is the module itself. */
void ml_tensors_label_inputs(PyObject *args, PyObject *kwargs);

#endif
