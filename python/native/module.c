/* module.c: memledger._native and its parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"

static int (*const parts[])(PyObject *module) = {
    ml_native_add_building_calls, ml_native_add_new_modules,      ml_native_add_interned,
    ml_native_add_torch_begin,    ml_native_add_private_pools,    ml_native_add_scoped_call,
    ml_native_add_module_calls,   ml_native_add_phase_calls,      ml_native_add_mxnet_labels,
    ml_native_add_steps,          ml_native_add_tensors,          ml_native_add_tracked,
    ml_native_add_live,           ml_native_add_python_names,     ml_native_add_user_marks,
    ml_native_add_reading,        ml_native_add_profiler_control, ml_native_add_profiler_objects,
    ml_native_add_function_calls, ml_native_add_shared_gradients,
    ml_native_add_watched_calls,  ml_native_add_space_blocks,     ml_native_add_compiled_calls,
    ml_native_add_tensor_fields,  ml_native_add_process_groups,
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "memledger._native",
    .m_doc = "The C part of the memledger package.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);

    for (size_t i = 0; module && i < sizeof(parts) / sizeof(*parts); i++) {
        if (parts[i](module))
            Py_CLEAR(module);
    }
    return module;
}
