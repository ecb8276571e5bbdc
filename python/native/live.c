/* live.c: the recorder's table of live blocks, and joining a recording, for Python.
 *
 * Without a recorder sums are 0, lookups find nothing and the rest does nothing: the Python
 * modules print the messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "native.h"
#include "phase.h"
#include "recorder_tables.h"

#define TAKEN_AT_ONCE 256

static PyObject *load(PyObject *self, PyObject *args)
{
    const char *path, *why = "";

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    if (!ml_native_load(path, &why))
        return PyErr_Format(PyExc_OSError, "cannot load %s: %s", path, why);
    Py_RETURN_NONE;
}

static PyObject *has_recorder(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyBool_FromLong(ml_native_live() != NULL);
}

/* (on): passes it to the function, if there is one. */
static PyObject *switch_to(PyObject *args, void (*function)(int))
{
    int on;

    if (!PyArg_ParseTuple(args, "p", &on))
        return NULL;
    if (function)
        function(on);
    Py_RETURN_NONE;
}

/* ---- The table -------------------------------------------------------------------- */

static PyObject *live_on(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    int attached;

    (void)self;
    if (!PyArg_ParseTuple(args, "p", &attached))
        return NULL;
    return PyBool_FromLong(live && live->switch_on(attached));
}

static PyObject *live_is_on(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyBool_FromLong(live && live->is_on());
}

static PyObject *live_seeding(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self;
    return switch_to(args, live ? live->seeding : NULL);
}

static PyObject *mxnet_seed(PyObject *self, PyObject *handle)
{
    const struct ml_live_api *live = ml_native_live();
    const void *array = PyLong_AsVoidPtr(handle);

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromUnsignedLong(live && array ? live->mxnet_seed(array) : 0);
}

static PyObject *cuda_hook(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    unsigned long long address;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &address))
        return NULL;
    return PyLong_FromUnsignedLongLong(live ? live->cuda_hook(address) : address);
}

static PyObject *cuda_block(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    unsigned long long address, bytes;
    int ordinal, is_virtual;

    (void)self;
    if (!PyArg_ParseTuple(args, "iKKp", &ordinal, &address, &bytes, &is_virtual))
        return NULL;
    if (live) {
        Py_BEGIN_ALLOW_THREADS /* the driver may be busy */
            live->cuda_block(ordinal, address, bytes, is_virtual);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *live_seed(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    unsigned long long address, bytes;
    int device;

    (void)self;
    if (!PyArg_ParseTuple(args, "iKK", &device, &address, &bytes))
        return NULL;
    return PyBool_FromLong(live && live->seed(device, address, bytes));
}

static PyObject *live_find(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    unsigned long long address;
    uint64_t bytes;
    int device, phase;

    (void)self;
    if (!PyArg_ParseTuple(args, "K", &address))
        return NULL;
    if (!live || !live->find(address, &bytes, &device, &phase))
        Py_RETURN_NONE;
    return Py_BuildValue("Kii", (unsigned long long)bytes, device, phase);
}

static PyObject *live_bytes(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    int device, phase = ML_LIVE_ALL_PHASES;

    (void)self;
    if (!PyArg_ParseTuple(args, "i|i", &device, &phase))
        return NULL;
    return PyLong_FromUnsignedLongLong(live ? live->bytes(device, phase) : 0);
}

static PyObject *live_peak(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    int device;

    (void)self;
    if (!PyArg_ParseTuple(args, "i", &device))
        return NULL;
    return PyLong_FromUnsignedLongLong(live ? live->peak(device) : 0);
}

static PyObject *live_reset_peak(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    int device;

    (void)self;
    if (!PyArg_ParseTuple(args, "i", &device))
        return NULL;
    if (live)
        live->reset_peak(device);
    Py_RETURN_NONE;
}

static PyObject *live_missed(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyLong_FromUnsignedLongLong(live ? live->missed() : 0);
}

static PyObject *live_tell(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    if (live)
        live->tell();
    Py_RETURN_NONE;
}

/* ---- Phases ------------------------------------------------------------------------ */

static PyObject *set_phase(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    int phase;

    (void)self;
    if (!PyArg_ParseTuple(args, "i", &phase))
        return NULL;
    return PyLong_FromLong(live ? live->set_process_phase(phase) : 0);
}

struct addresses {
    uint64_t *items;
    Py_ssize_t count;
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Sorted; the caller frees them. @return 0, or -1 with an exception set */
static int take_addresses(PyObject *list, struct addresses *ret)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of addresses");
        return -1;
    }
    ret->count = PyList_Size(list);
    ret->items = calloc((size_t)ret->count + 1, sizeof(*ret->items));
    if (!ret->items) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < ret->count; i++)
        ret->items[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, i));
    if (PyErr_Occurred()) {
        free(ret->items);
        return -1;
    }
    qsort(ret->items, (size_t)ret->count, sizeof(*ret->items), compare);
    return 0;
}

static PyObject *rephase(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    struct addresses addresses;
    PyObject *list;
    int phase;

    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &list, &phase) || take_addresses(list, &addresses))
        return NULL;
    if (live)
        live->rephase(addresses.items, (size_t)addresses.count, phase);
    free(addresses.items);
    Py_RETURN_NONE;
}

static PyObject *log_begin(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    if (live)
        live->log_begin();
    Py_RETURN_NONE;
}

static PyObject *log_end(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    struct addresses others;
    unsigned long long devices;
    uint64_t peak = 0;
    PyObject *list;
    int told;

    (void)self;
    if (!PyArg_ParseTuple(args, "KO", &devices, &list) || take_addresses(list, &others))
        return NULL;
    told = live && live->log_end(devices, others.items, (size_t)others.count, &peak);
    free(others.items);
    if (!told)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(peak);
}

static PyObject *log_forward(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self;
    return switch_to(args, live ? live->log_forward : NULL);
}

/* @return 0, or -1 with an exception set */
static int append_addresses(PyObject *list, const uint64_t *addresses, size_t count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(addresses[i]);

        r = number ? PyList_Append(list, number) : -1;
        Py_XDECREF(number);
    }
    return r;
}

static PyObject *log_take(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    PyObject *list = PyList_New(0);
    uint64_t addresses[TAKEN_AT_ONCE];
    size_t count = live ? TAKEN_AT_ONCE : 0;

    (void)self, (void)args;
    while (list && count == TAKEN_AT_ONCE) {
        count = live->log_take(addresses, TAKEN_AT_ONCE);
        if (append_addresses(list, addresses, count))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- Joining a recording ------------------------------------------------- */

static PyObject *patch_mxnet(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyBool_FromLong(live && live->patch_mxnet());
}

static PyObject *patch_torch(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyBool_FromLong(live && live->patch_torch());
}

static PyObject *recording(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyLong_FromLong(live ? live->recording() : ML_LIVE_NOT_RECORDED);
}

static PyObject *join(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();
    const char *dir;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &dir))
        return NULL;
    return PyLong_FromLong(live ? -live->join(dir) : ESRCH);
}

static PyObject *leave(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    return PyBool_FromLong(live && !live->leave());
}

static PyObject *after_leave(PyObject *self, PyObject *args)
{
    const struct ml_live_api *live = ml_native_live();

    (void)self, (void)args;
    if (live)
        live->after_leave();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"load", load, METH_VARARGS, "Load the recorder from a path, unless it is loaded."},
    {"has_recorder", has_recorder, METH_NOARGS, "Whether the recorder is in this process."},
    {"live_on", live_on, METH_VARARGS, "(attached): keep a table of live blocks from now on."},
    {"live_is_on", live_is_on, METH_NOARGS, "Whether the table is kept."},
    {"live_seeding", live_seeding, METH_VARARGS, "(on): around the seeding of existing blocks."},
    {"mxnet_seed", mxnet_seed, METH_O,
     "mxnet_seed(handle): records the blocks of an existing array; how many were new."},
    {"cuda_hook", cuda_hook, METH_VARARGS,
     "(address): the hook of the CUDA driver's function there, else the address."},
    {"cuda_block", cuda_block, METH_VARARGS,
     "(ordinal, address, bytes, is_virtual): an existing allocation of the CUDA driver."},
    {"live_seed", live_seed, METH_VARARGS, "(device, address, bytes): add an existing block."},
    {"live_find", live_find, METH_VARARGS, "(address): (bytes, device, phase) or None."},
    {"live_bytes", live_bytes, METH_VARARGS, "(device, phase=-1): bytes alive."},
    {"live_peak", live_peak, METH_VARARGS, "(device): the most bytes since the last reset."},
    {"live_reset_peak", live_reset_peak, METH_VARARGS, "(device): set the peak to the live bytes."},
    {"live_missed", live_missed, METH_NOARGS, "Events that could not be booked."},
    {"live_tell", live_tell, METH_NOARGS, "Report missing blocks to a late recording."},
    {"set_phase", set_phase, METH_VARARGS, "(phase): set the process's; returns the old one."},
    {"rephase", rephase, METH_VARARGS, "(addresses, phase): move blocks to that phase."},
    {"log_begin", log_begin, METH_NOARGS, "Keep the events of a backward pass."},
    {"log_end", log_end, METH_VARARGS, "(devices, others): the peak without those, or None."},
    {"log_forward", log_forward, METH_VARARGS, "(on): keep the allocations of forward passes."},
    {"log_take", log_take, METH_NOARGS, "Addresses of such blocks since the last call."},
    {"patch_torch", patch_torch, METH_NOARGS, "Hook PyTorch's loaded libraries."},
    {"patch_mxnet", patch_mxnet, METH_NOARGS, "Hook MXNet, if it is loaded."},
    {"recording", recording, METH_NOARGS, "0: none, 1: since the start, 2: joined."},
    {"join", join, METH_VARARGS, "(session folder): 0, or an errno."},
    {"leave", leave, METH_NOARGS, "End a recording that was joined."},
    {"after_leave", after_leave, METH_NOARGS, "Its collector has ended."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_live(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "PHASE_NONE", ML_PHASE_NONE) ||
        PyModule_AddIntConstant(module, "PHASE_FORWARD", ML_PHASE_FORWARD) ||
        PyModule_AddIntConstant(module, "PHASE_BACKWARD", ML_PHASE_BACKWARD) ||
        PyModule_AddIntConstant(module, "PHASE_OPTIMIZER", ML_PHASE_OPTIMIZER) ||
        PyModule_AddIntConstant(module, "RECORDED_FROM_START", ML_LIVE_RECORDED_FROM_START) ||
        PyModule_AddIntConstant(module, "RECORDED_LATE", ML_LIVE_RECORDED_LATE))
        return -1;
    return PyModule_AddFunctions(module, methods);
}
