/* recorder.c: see recorder.h; and what Python says to the recorder directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"
#include "recorder.h"

#include <dlfcn.h>

const struct ml_extension_api *ml_native_recorder(void)
{
    static const struct ml_extension_api *found;

    if (!found) {
        const struct ml_extension_api *api = dlsym(RTLD_DEFAULT, ML_EXTENSION_API_SYMBOL);
        if (api && api->version == ML_EXTENSION_API_VERSION &&
            api->struct_bytes == sizeof(struct ml_extension_api))
            found = api;
    }
    return found;
}

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
    PyErr_Clear();
    return number;
}

static PyObject *recording(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    return PyBool_FromLong(recorder && recorder->in_session());
}

static PyObject *torch_begin(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    if (recorder)
        recorder->torch_begin();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"recording", recording, METH_NOARGS, "Whether this process is being recorded."},
    {"torch_begin", torch_begin, METH_NOARGS, "Readies the recorder for PyTorch's modules."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_recorder(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
