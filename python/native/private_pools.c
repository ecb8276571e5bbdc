/* private_pools.c: which of the driver's memory belongs to a private pool of PyTorch's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder.h"

static PyObject *enter_private(PyObject *self, PyObject *name)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self;
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "the name of a pool must be a str");
        return NULL;
    }
    if (recorder)
        recorder->enter_private(ml_native_name(name));
    Py_RETURN_NONE;
}

static PyObject *leave_private(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    if (recorder)
        recorder->leave_private();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"enter_private", enter_private, METH_O, "(name): this thread allocates for a private pool."},
    {"leave_private", leave_private, METH_NOARGS, "No longer."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_private_pools(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
