/* new_modules.c: see new_modules.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "new_modules.h"

#include "scoped_call.h"

#define FORGET_LEAST 1024

static PyObject *waiting;                   /* a list of weak references, NULL: none */
static Py_ssize_t forget_at = FORGET_LEAST; /* so many: those that are gone are dropped */
static PyObject *namer;                     /* of the package */

/* Those that still live, as strong references, or as weak ones again. */
static PyObject *living(PyObject *references, int strong)
{
    PyObject *found = PyList_New(0);

    for (Py_ssize_t i = 0; found && i < PyList_Size(references); i++) {
        PyObject *reference = PyList_GetItem(references, i);
        PyObject *module = PyWeakref_GetObject(reference);
        if (module != Py_None && PyList_Append(found, strong ? module : reference))
            Py_CLEAR(found);
    }
    return found;
}

/* So that a program that keeps making modules stays in bounded memory. */
static int forget_the_dead(void)
{
    PyObject *all = waiting, *kept = living(all, 0);

    if (!kept)
        return -1;
    waiting = kept;
    Py_DECREF(all);
    forget_at = 2 * PyList_Size(kept);
    if (forget_at < FORGET_LEAST)
        forget_at = FORGET_LEAST;
    return 0;
}

/* Most modules register several things in a row. */
static int is_last(PyObject *module)
{
    Py_ssize_t count = waiting ? PyList_Size(waiting) : 0;

    return count && PyWeakref_GetObject(PyList_GetItem(waiting, count - 1)) == module;
}

static int note(PyObject *module)
{
    PyObject *reference;
    int failed;

    if (is_last(module))
        return 0;
    if (!waiting && !(waiting = PyList_New(0)))
        return -1;
    if (PyList_Size(waiting) >= forget_at && forget_the_dead())
        return -1;
    reference = PyWeakref_NewRef(module, NULL);
    failed = !reference || PyList_Append(waiting, reference);
    Py_XDECREF(reference);
    return failed ? -1 : 0;
}

void ml_new_modules_name(void)
{
    if (waiting && namer)
        ml_scoped_call_tell(namer, NULL, NULL, NULL);
}

/* ---- From Python ----------------------------------------------------------------- */

static PyObject *note_new(PyObject *self, PyObject *module)
{
    (void)self;
    if (note(module))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *take_new(PyObject *self, PyObject *args)
{
    PyObject *all = waiting, *found;

    (void)self, (void)args;
    if (!all)
        return PyList_New(0);
    waiting = NULL;
    found = living(all, 1);
    Py_DECREF(all);
    return found;
}

static PyObject *set_namer(PyObject *self, PyObject *function)
{
    PyObject *old = namer;

    (void)self;
    Py_INCREF(function);
    namer = function;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"note_new", note_new, METH_O, "The module got a parameter, a buffer or a child."},
    {"take_new", take_new, METH_NOARGS, "The modules noted since the last call."},
    {"set_namer", set_namer, METH_O, "The function that names the modules noted."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_new_modules(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
