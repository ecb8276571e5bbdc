/* building_calls.c: calls that build, convert or load a model: their new modules are named before,
 * and what they made or moved after, also if they fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "new_modules.h"
#include "scoped_call.h"
#include "tracked.h"

/* The number of such calls that this thread is in. Most call themselves for each child. */
static __thread unsigned depth;

/* after(args, kwargs, result), where None is the result of a call that failed. Leaves the exception
 * of the call as it is, unless an interrupt arrived meanwhile. */
static void finish(const struct ml_scoped_call *self, PyObject *args, PyObject *kwargs,
                   PyObject *result)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    ml_scoped_call_tell(self->after, args, kwargs ? kwargs : Py_None, result ? result : Py_None);
    if (!PyErr_Occurred())
        ml_new_modules_name();
    if (!PyErr_Occurred())
        ml_tracked_check();
    if (PyErr_Occurred() || !type) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
}

/* before(args, kwargs) first. The number says whether it is the phase "loading". */
static PyObject *call_building(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                               PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    bool is_loading = self->number;
    PyObject *result;

    (void)first;
    if (depth)
        return PyObject_Call(self->original, args, kwargs);
    ml_new_modules_name();
    if (!PyErr_Occurred())
        ml_scoped_call_tell(self->before, args, kwargs ? kwargs : Py_None, NULL);
    if (PyErr_Occurred())
        return NULL;
    depth++;
    if (is_loading)
        recorder->enter_loading();
    result = PyObject_Call(self->original, args, kwargs);
    if (is_loading)
        recorder->leave_loading();
    depth--;
    finish(self, args, kwargs, result);
    if (result && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

static PyObject *scoped_building(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_building);
}

static PyMethodDef methods[] = {
    {"scoped_building", (PyCFunction)(void (*)(void))scoped_building, METH_VARARGS | METH_KEYWORDS,
     "Wraps a function that builds or converts a model; number 1: or loads one."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_building_calls(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
