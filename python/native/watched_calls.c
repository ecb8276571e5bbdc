/* watched_calls.c: calls whose blocks the package names afterwards, because C++ code keeps them to
 * itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scoped_call.h"

#define MOST_BLOCKS 1024

/* A list of (address, bytes, CUDA device or -1). NULL with an exception set. */
static PyObject *list_of(const struct ml_torch_watch *watch)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < watch->count && i < watch->room; i++) {
        const struct ml_torch_watched *b = &watch->blocks[i];
        PyObject *block = Py_BuildValue("(KKi)", (unsigned long long)(uintptr_t)b->address,
                                        (unsigned long long)b->bytes, b->cuda_device);
        if (!block || PyList_Append(list, block))
            Py_CLEAR(list);
        Py_XDECREF(block);
    }
    return list;
}

static PyObject *call_under(const struct ml_scoped_call *self, struct ml_torch_watch *watch,
                            PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_torch_watch *before = recorder->watch(watch);
    PyObject *result = PyObject_Call(self->original, args, kwargs);

    recorder->watch(before);
    return result;
}

/* after(args, kwargs, blocks), if it allocated any. */
static PyObject *call_watched(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                              PyObject *kwargs)
{
    struct ml_torch_watched blocks[MOST_BLOCKS];
    struct ml_torch_watch watch = {.blocks = blocks, .room = MOST_BLOCKS};
    PyObject *result = call_under(self, &watch, args, kwargs);
    PyObject *list = result && watch.count ? list_of(&watch) : NULL;

    (void)first;
    if (list)
        ml_scoped_call_tell(self->after, args, kwargs ? kwargs : Py_None, list);
    Py_XDECREF(list);
    if (result && ml_native_forget_error())
        Py_CLEAR(result);
    return result;
}

static PyObject *scoped_watch(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_watched);
}

static PyMethodDef methods[] = {
    {"scoped_watch", (PyCFunction)(void (*)(void))scoped_watch, METH_VARARGS | METH_KEYWORDS,
     "Wraps a function and tells after(args, kwargs, blocks) which blocks it allocated."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_watched_calls(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
