/* mxnet_labels.c: names for the blocks of MXNet's arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "recorder.h"

static unsigned blocks_at(PyObject *handle, struct ml_mxnet_block *ret)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const void *array = recorder ? PyLong_AsVoidPtr(handle) : NULL;

    return array ? recorder->mxnet_blocks(array, ret) : 0;
}

/* A number that changes whenever one of the blocks does; 0: one has no memory yet. */
static uintptr_t place_of(const struct ml_mxnet_block *blocks, unsigned parts)
{
    uintptr_t place = 0;

    for (unsigned i = 0; i < parts; i++) {
        if (!blocks[i].ptr)
            return 0;
        place += (uintptr_t)blocks[i].ptr * (i + 1);
    }
    return place;
}

static PyObject *mxnet_place(PyObject *self, PyObject *handle)
{
    struct ml_mxnet_block blocks[ML_MXNET_PARTS_MAX];
    unsigned parts = blocks_at(handle, blocks);

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromUnsignedLongLong(place_of(blocks, parts));
}

static PyObject *mxnet_label(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_mxnet_block blocks[ML_MXNET_PARTS_MAX];
    PyObject *handle;
    const char *name;
    char text[1024];
    int category;
    unsigned parts;

    (void)self;
    if (!PyArg_ParseTuple(args, "Osi", &handle, &name, &category))
        return NULL;
    parts = blocks_at(handle, blocks);
    if (PyErr_Occurred())
        return NULL;
    for (unsigned i = 0; i < parts; i++) {
        snprintf(text, sizeof(text), "%s%s", name, ml_mxnet_part_suffix(i, parts));
        recorder->mxnet_label(&blocks[i], recorder->name(text, strlen(text)), category);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"mxnet_place", mxnet_place, METH_O,
     "mxnet_place(handle): a number for an array's place, 0 while it has no memory."},
    {"mxnet_label", mxnet_label, METH_VARARGS,
     "mxnet_label(handle, name, category): names the blocks that an array has."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_mxnet_labels(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
