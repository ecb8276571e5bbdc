/* python_names.c: what Python calls its threads and processes. Does nothing where nothing is
 * recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"
#include "recorder_tables.h"

static PyObject *thread_name(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const char *name;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (recorder)
        recorder->thread_name(name);
    Py_RETURN_NONE;
}

static PyObject *process_role(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const char *role;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &role))
        return NULL;
    if (recorder)
        recorder->process_role(role);
    Py_RETURN_NONE;
}

static PyObject *process_place(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const char *place;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &place))
        return NULL;
    if (recorder)
        recorder->process_place(place);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"thread_name", thread_name, METH_VARARGS, "(name): name the calling thread."},
    {"process_role", process_role, METH_VARARGS, "(role): say what this process is among several."},
    {"process_place", process_place, METH_VARARGS,
     "(place): say where this process is in a distributed job."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_python_names(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
