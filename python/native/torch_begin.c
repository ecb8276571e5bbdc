/* torch_begin.c: names for the recorder, and its start with PyTorch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder.h"

uint32_t ml_native_name(PyObject *text)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *encoded = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    Py_ssize_t bytes = 0;
    char *data = NULL;
    uint32_t number = 0;

    if (recorder && encoded && !PyBytes_AsStringAndSize(encoded, &data, &bytes))
        number = recorder->name(data, (size_t)bytes);
    Py_XDECREF(encoded);
    ml_native_forget_error();
    return number;
}

static PyObject *torch_begin(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    if (recorder)
        recorder->torch_begin();
    Py_RETURN_NONE;
}

static PyObject *pass_over(PyObject *self, PyObject *folder)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *encoded = PyUnicode_EncodeFSDefault(folder);
    Py_ssize_t bytes = 0;
    char *data = NULL;

    (void)self;
    if (recorder && encoded && !PyBytes_AsStringAndSize(encoded, &data, &bytes))
        recorder->pass_over(data, (size_t)bytes);
    Py_XDECREF(encoded);
    ml_native_forget_error();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"torch_begin", torch_begin, METH_NOARGS, "Prepares the recorder for PyTorch's modules."},
    {"pass_over", pass_over, METH_O,
     "Memory belongs to no function whose code is in this folder, which ends in a slash."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_torch_begin(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
