/* profiler_control.c: settings, state, dumps and statistics of the profile, for Python.
 *
 * Without a recorder calls do nothing; the Python module prints the messages. Calls that wait
 * for the collector release Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "native.h"
#include "profiler_result.h"
#include "recorder.h"

struct pairs {
    const char **keys; /* both in one allocation, which the caller frees */
    const char **values;
    int count;
};

/* The texts stay valid as long as the list. @return 0, or -1 with an exception set */
static int take_pairs(PyObject *list, struct pairs *ret)
{
    size_t count = (size_t)PyList_Size(list);

    ret->keys = calloc(2 * count + 1, sizeof(*ret->keys));
    if (!ret->keys) {
        PyErr_NoMemory();
        return -1;
    }
    ret->values = ret->keys + count;
    ret->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GetItem(list, (Py_ssize_t)i);
        if (!PyArg_ParseTuple(pair, "ss", &ret->keys[i], &ret->values[i])) {
            free(ret->keys);
            return -1;
        }
    }
    return 0;
}

static PyObject *profiler_config(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    struct pairs pairs;
    PyObject *list;
    int result;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list) || take_pairs(list, &pairs))
        return NULL;
    result = api ? api->set_config(pairs.count, pairs.keys, pairs.values) : 0;
    free(pairs.keys);
    return ml_profiler_result(api, result);
}

static PyObject *profiler_state(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    int state, process;

    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &state, &process))
        return NULL;
    return ml_profiler_result(api, api ? api->set_state(state, process) : 0);
}

static PyObject *profiler_pause(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    int paused, process;

    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &paused, &process))
        return NULL;
    return ml_profiler_result(api, api ? api->pause(paused, process) : 0);
}

static PyObject *profiler_dump(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    int finished, process, result = 0;

    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &finished, &process))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (api)
        result = api->dump(finished, process);
    Py_END_ALLOW_THREADS;
    return ml_profiler_result(api, result);
}

static PyObject *profiler_stats(PyObject *self, PyObject *args)
{
    const struct memledger_api *api = ml_native_api();
    int reset, format, sort_by, ascending, result = 0;
    const char *text = "";

    (void)self;
    if (!PyArg_ParseTuple(args, "iiii", &reset, &format, &sort_by, &ascending))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (api)
        result = api->stats(&text, reset, format, sort_by, ascending);
    Py_END_ALLOW_THREADS;
    if (result)
        return ml_profiler_refuse(api);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *save_trace(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const char *path = "";
    double patience_s = 0;
    int result = 0;

    (void)self;
    if (!PyArg_ParseTuple(args, "|d", &patience_s))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (recorder)
        result = recorder->save_trace((uint64_t)(patience_s * 1e9), &path);
    Py_END_ALLOW_THREADS;
    if (result)
        return ml_profiler_refuse(ml_native_api());
    return PyUnicode_DecodeFSDefault(path);
}

static PyObject *profiler_error_class(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return ml_profiler_error_class();
}

static PyMethodDef methods[] = {
    {"profiler_config", profiler_config, METH_VARARGS, "(settings): a list of pairs of str."},
    {"profiler_error_class", profiler_error_class, METH_NOARGS,
     "The class of a failed call's exception."},
    {"profiler_state", profiler_state, METH_VARARGS, "(state, process)"},
    {"profiler_pause", profiler_pause, METH_VARARGS, "(paused, process)"},
    {"profiler_dump", profiler_dump, METH_VARARGS, "(finished, process)"},
    {"profiler_stats", profiler_stats, METH_VARARGS,
     "(reset, format, sort_by, ascending): the text."},
    {"save_trace", save_trace, METH_VARARGS,
     "(patience_s=0): writes the trace so far; its path, or an empty one. 0: waits as long as the "
     "collector may come back."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_profiler_control(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
