/* profiler_result.c: see profiler_result.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profiler_result.h"

PyObject *ml_profiler_error_class(void)
{
    PyObject *name = PyUnicode_FromString("mxnet.base");
    PyObject *base = name ? PyImport_GetModule(name) : NULL;
    PyObject *error_class = base ? PyObject_GetAttrString(base, "MXNetError") : NULL;

    Py_XDECREF(name);
    Py_XDECREF(base);
    PyErr_Clear();
    if (!error_class) {
        error_class = PyExc_RuntimeError;
        Py_INCREF(error_class);
    }
    return error_class;
}

PyObject *ml_profiler_refuse(const struct memledger_api *api)
{
    PyObject *error_class = ml_profiler_error_class();

    PyErr_SetString(error_class, api->last_error());
    Py_DECREF(error_class);
    return NULL;
}

PyObject *ml_profiler_result(const struct memledger_api *api, int result)
{
    if (result)
        return ml_profiler_refuse(api);
    Py_RETURN_NONE;
}
