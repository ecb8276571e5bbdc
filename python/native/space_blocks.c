/* space_blocks.c: blocks of any space, reported as a program would with the public API. They do
 * nothing without a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_spaces.h"
#include "event.h"
#include "native.h"
#include "recorder_tables.h"

/* Opened each time: a recording that begins later numbers its spaces anew. 0: none. */
static memledger_space open_space(const char *device, const char *name)
{
    const struct memledger_api *api = ml_native_api();
    const struct ml_extension_api *recorder = ml_native_recorder();

    return api && recorder && recorder->in_session()
               ? api->space_open(device, MEMLEDGER_BLOCK, name)
               : 0;
}

static PyObject *space_alloc(PyObject *self, PyObject *args)
{
    const char *device, *name;
    unsigned long long address, bytes;
    memledger_space space;

    (void)self;
    if (!PyArg_ParseTuple(args, "ssKK", &device, &name, &address, &bytes))
        return NULL;
    space = open_space(device, name);
    if (space)
        ml_native_api()->alloc(space, (const void *)(uintptr_t)address, (size_t)bytes);
    Py_RETURN_NONE;
}

static PyObject *space_label(PyObject *self, PyObject *args)
{
    const char *device, *name, *label;
    unsigned long long address;
    memledger_space space;
    int category;

    (void)self;
    if (!PyArg_ParseTuple(args, "ssKsi", &device, &name, &address, &label, &category))
        return NULL;
    space = open_space(device, name);
    if (space)
        ml_native_api()->label(space, (const void *)(uintptr_t)address, label, category);
    Py_RETURN_NONE;
}

static PyObject *space_free(PyObject *self, PyObject *args)
{
    const char *device, *name;
    unsigned long long address;
    memledger_space space;

    (void)self;
    if (!PyArg_ParseTuple(args, "ssK", &device, &name, &address))
        return NULL;
    space = open_space(device, name);
    if (space)
        ml_native_api()->free(space, (const void *)(uintptr_t)address);
    Py_RETURN_NONE;
}

/* When Python ends, it frees weak references together with the objects, and then does not call the
 * callbacks. Those in an object that C refers to stay. */
static PyObject *keep(PyObject *self, PyObject *object)
{
    (void)self;
    Py_INCREF(object); /* for the rest of the process */
    Py_INCREF(object);
    return object;
}

static PyMethodDef methods[] = {
    {"space_alloc", space_alloc, METH_VARARGS, "space_alloc(device, space, address, bytes)"},
    {"space_label", space_label, METH_VARARGS,
     "space_label(device, space, address, label, category)"},
    {"space_free", space_free, METH_VARARGS, "space_free(device, space, address)"},
    {"keep", keep, METH_O,
     "Returns the object, which stays until the process ends, with the weak references in it."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_space_blocks(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "FILES_DEVICE", ML_FILES_DEVICE) ||
        PyModule_AddStringConstant(module, "SHARED_DEVICE", ML_SHARED_DEVICE) ||
        PyModule_AddStringConstant(module, "PINNED_SPACE", ML_CUDA_PINNED) ||
        PyModule_AddStringConstant(module, "TORCH_SPACE", ML_TORCH_SPACE_NAME))
        return -1;
    return PyModule_AddFunctions(module, methods);
}
