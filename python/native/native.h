/* native.h: the parts of memledger._native, the package's extension.
 *
 * Built for the limited API of Python 3.9, so one file works with every later version. Each
 * part adds its own functions and types to the module.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NATIVE_H
#define ML_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Each returns 0, or -1 with an exception set. */
int ml_native_add_interned(PyObject *module);
int ml_native_add_torch_begin(PyObject *module);
int ml_native_add_private_pools(PyObject *module);
int ml_native_add_process_groups(PyObject *module);
int ml_native_add_scoped_call(PyObject *module);
int ml_native_add_module_calls(PyObject *module);
int ml_native_add_building_calls(PyObject *module);
int ml_native_add_function_calls(PyObject *module);
int ml_native_add_compiled_calls(PyObject *module);
int ml_native_add_new_modules(PyObject *module);
int ml_native_add_phase_calls(PyObject *module);
int ml_native_add_mxnet_labels(PyObject *module);
int ml_native_add_space_blocks(PyObject *module);
int ml_native_add_steps(PyObject *module);
int ml_native_add_shared_gradients(PyObject *module);
int ml_native_add_tensors(PyObject *module);
int ml_native_add_tensor_fields(PyObject *module);
int ml_native_add_tracked(PyObject *module);
int ml_native_add_live(PyObject *module);
int ml_native_add_python_names(PyObject *module);
int ml_native_add_user_marks(PyObject *module);
int ml_native_add_watched_calls(PyObject *module);
int ml_native_add_profiler_control(PyObject *module);
int ml_native_add_profiler_objects(PyObject *module);
int ml_native_add_reading(PyObject *module);

/* Clears an exception that memledger caused; keeps an interrupt or an exit that arrived
 * meanwhile.
 * @return whether one did */
static inline int ml_native_forget_error(void)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear();
    return PyErr_Occurred() != NULL;
}

#endif
