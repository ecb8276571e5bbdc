/* scopes.c: scopes and marks for the recorder, from Python.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"

#include "memledger/memledger.h"

static PyObject *active(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyBool_FromLong(memledger_active());
}

static PyMethodDef methods[] = {
    {"active", active, METH_NOARGS, "Whether the recorder is in this process."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_scopes(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
