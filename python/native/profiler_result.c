/* profiler_result.c: see profiler_result.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profiler_result.h"

PyObject *ml_profiler_error_class(void)
{
    PyObject *name = PyUnicode_FromString("mxnet.base");
    PyObject *base = name ? PyImport_GetModule(name) : NULL;
    PyObject *class = base ? PyObject_GetAttrString(base, "MXNetError") : NULL;

    Py_XDECREF(name);
    Py_XDECREF(base);
    PyErr_Clear();
    if (!class) {
        class = PyExc_RuntimeError;
        Py_INCREF(class);
    }
    return class;
}

PyObject *ml_profiler_refuse(const struct memledger_api *api)
{
    PyObject *class = ml_profiler_error_class();

    PyErr_SetString(class, api->last_error());
    Py_DECREF(class);
    return NULL;
}

PyObject *ml_profiler_result(const struct memledger_api *api, int result)
{
    if (result)
        return ml_profiler_refuse(api);
    Py_RETURN_NONE;
}
