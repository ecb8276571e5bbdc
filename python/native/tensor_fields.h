/* tensor_fields.h: where a tensor's memory is, and that of its gradient, read from PyTorch's
 * objects without calling Python.
 *
 * Asked through Python, a parameter and its gradient take as long as forty records, and every step
 * asks for all of them. The fields have no public offsets: they are learned from tensors whose
 * memory is known (learn_tensor_fields), and not used if any of these disagrees.
 *
 * For threads that hold Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TENSOR_FIELDS_H
#define ML_TENSOR_FIELDS_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

struct ml_tensor_fields {
    uintptr_t storage; /* the address of its storage's memory */
    uint64_t offset;   /* of the tensor in its storage, in elements */
};

/* Precondition: the tensor is a torch.Tensor or a Parameter itself, of no subclass.
 * @return false: PyTorch must be asked, also for a tensor without memory of its own */
bool ml_tensor_fields(PyObject *tensor, struct ml_tensor_fields *ret);

enum ml_gradient { ML_GRADIENT_UNKNOWN, ML_GRADIENT_NONE, ML_GRADIENT_FOUND };

/* The same for its gradient; unknown: PyTorch must be asked. */
enum ml_gradient ml_tensor_gradient(PyObject *tensor, struct ml_tensor_fields *ret);

#endif
