/* profiler_objects.c: tasks, frames, events, counters and markers, for Python. An object is its
 * number in the recorder; calls with 0 do nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"
#include "profiler_result.h"

/* NULL while this process is not recorded: a call that the recorder would then reject is not
 * the caller's mistake. */
static const struct memledger_api *recording_api(void)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    return recorder && recorder->in_session() ? ml_native_api() : NULL;
}

/* When the recorder has no room for another object, returns 0, which does nothing, rather than
 * raise. */
static PyObject *profiler_create(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long domain;
    const char *name;
    int kind;

    (void)self;
    if (!PyArg_ParseTuple(args, "iKs", &kind, &domain, &name))
        return NULL;
    return PyLong_FromUnsignedLongLong(api ? api->create(kind, domain, name) : 0);
}

static PyObject *profiler_destroy(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long object;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &object))
        return NULL;
    return ml_profiler_result(api, api && object ? api->destroy(object) : 0);
}

static PyObject *profiler_start(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long object;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &object))
        return NULL;
    return ml_profiler_result(api, api && object ? api->start(object) : 0);
}

static PyObject *profiler_stop(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long object;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &object))
        return NULL;
    return ml_profiler_result(api, api && object ? api->stop(object) : 0);
}

static PyObject *profiler_counter_set(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long object, value;
    PyObject *number;

    (void)self;
    if (!PyArg_ParseTuple(args, "KO!", &object, &PyLong_Type, &number))
        return NULL;
    value = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    return ml_profiler_result(api, api && object ? api->counter_set(object, value) : 0);
}

static PyObject *profiler_counter_adjust(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long object;
    long long delta;

    (void)self;
    if (!PyArg_ParseTuple(args, "KL", &object, &delta))
        return NULL;
    return ml_profiler_result(api, api && object ? api->counter_adjust(object, delta) : 0);
}

static PyObject *profiler_marker(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = recording_api();
    unsigned long long domain;
    const char *name, *scope;

    (void)self;
    if (!PyArg_ParseTuple(args, "Kss", &domain, &name, &scope))
        return NULL;
    return ml_profiler_result(api, api && domain ? api->marker(domain, name, scope) : 0);
}

static PyMethodDef methods[] = {
    {"profiler_create", profiler_create, METH_VARARGS, "(kind, domain, name): an object, or 0."},
    {"profiler_destroy", profiler_destroy, METH_VARARGS, "(object)"},
    {"profiler_start", profiler_start, METH_VARARGS, "(object)"},
    {"profiler_stop", profiler_stop, METH_VARARGS, "(object)"},
    {"profiler_counter_set", profiler_counter_set, METH_VARARGS, "(object, value)"},
    {"profiler_counter_adjust", profiler_counter_adjust, METH_VARARGS, "(object, delta)"},
    {"profiler_marker", profiler_marker, METH_VARARGS, "(domain, name, scope)"},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_profiler_objects(PyObject *module)
{
    static const struct {
        const char *name;
        int value;
    } kinds[] = {{"DOMAIN", MEMLEDGER_DOMAIN},
                 {"TASK", MEMLEDGER_TASK},
                 {"FRAME", MEMLEDGER_FRAME},
                 {"EVENT", MEMLEDGER_EVENT},
                 {"COUNTER", MEMLEDGER_COUNTER}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (PyModule_AddIntConstant(module, kinds[i].name, kinds[i].value))
            return -1;
    }
    return PyModule_AddFunctions(module, methods);
}
