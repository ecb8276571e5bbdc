/* user_marks.c: the user's own scopes and markers. They do nothing without a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"
#include "recorder_tables.h"

static PyObject *user_push(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    const char *name;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (api)
        api->push(MEMLEDGER_SCOPE_USER, name);
    Py_RETURN_NONE;
}

static PyObject *user_pop(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();

    (void)self, (void)args;
    if (api)
        api->pop();
    Py_RETURN_NONE;
}

/* The domain is created once; a recording that is joined later gets it too. */
static PyObject *user_marker(PyObject *self, PyObject *args)
{
    static memledger_object domain;
    const struct memledger_api *api = ml_native_api();
    const char *name;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (api && !domain)
        domain = api->create(MEMLEDGER_DOMAIN, 0, "memledger");
    if (api && domain)
        api->marker(domain, name, "process");
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"user_push", user_push, METH_VARARGS, "(name): enter a user's scope."},
    {"user_pop", user_pop, METH_NOARGS, "Leave it."},
    {"user_marker", user_marker, METH_VARARGS, "(name): mark an instant."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_user_marks(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
