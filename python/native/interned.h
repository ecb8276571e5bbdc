/* interned.h: names of frequently used attributes, as interned strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INTERNED_H
#define ML_INTERNED_H

#include "native.h"

#define ML_INTERNED(NAME)                                                                          \
    NAME(_cdata)                                                                                   \
    NAME(_local_tensor)                                                                            \
    NAME(data_ptr)                                                                                 \
    NAME(elem)                                                                                     \
    NAME(element_size)                                                                             \
    NAME(get_device)                                                                               \
    NAME(grad)                                                                                     \
    NAME(is_cuda)                                                                                  \
    NAME(lightning_module)                                                                         \
    NAME(storage_offset)                                                                           \
    NAME(training)

#define ML_INTERNED_FIELD(name) PyObject *name;
extern struct ml_interned {
    ML_INTERNED(ML_INTERNED_FIELD)
} ml_str;

#endif
