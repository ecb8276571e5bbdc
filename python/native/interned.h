/* interned.h: names of frequently used attributes, as interned strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INTERNED_H
#define ML_INTERNED_H

#include "native.h"

#define ML_INTERNED(NAME)                                                                          \
    NAME(_local_tensor)                                                                            \
    NAME(co_filename)                                                                              \
    NAME(co_name)                                                                                  \
    NAME(co_qualname)                                                                              \
    NAME(data_ptr)                                                                                 \
    NAME(elem)                                                                                     \
    NAME(element_size)                                                                             \
    NAME(get_device)                                                                               \
    NAME(f_back)                                                                                   \
    NAME(f_code)                                                                                   \
    NAME(grad)                                                                                     \
    NAME(is_cuda)                                                                                  \
    NAME(lightning_module)                                                                         \
    NAME(requires_grad)                                                                            \
    NAME(storage_offset)                                                                           \
    NAME(training)

#define ML_INTERNED_FIELD(name) PyObject *name;
extern struct ml_interned {
    ML_INTERNED(ML_INTERNED_FIELD)
} ml_str;

#endif
