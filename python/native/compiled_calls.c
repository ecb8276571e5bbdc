/* compiled_calls.c: calls of code that PyTorch's compiler made.
 *
 * Such code calls no modules: it allocates the buffers of a whole region one after the other. The
 * package knows the layer of each (_torch_compiled.py), and has put a call of enter_layer, with the
 * number of the place, before each statement that allocates. Regions with the same code share
 * these calls; each has its own list of layers.
 *
 * A backward pass that PyTorch captures as a graph (compiled autograd) runs no nodes, whose scopes
 * would say which layers they belong to. A call of such a pass is around those of its code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "scoped_call.h"
#include "step_bounds.h"
#include "tensors.h"
#include "tracked.h"
#include "tracked_list.h"

/* The recorder's names. All 0: the place belongs to no layer. */
struct layer {
    uint32_t root, root_class; /* 0: the name is relative to the running module */
    uint32_t name, class_name; /* 0: the root itself */
};

enum region_kind { FORWARD, BACKWARD, WHOLE_PASS, REGION_KINDS };

/* The region whose code this thread runs. */
struct region {
    const struct layer *layers;
    size_t count;
    struct layer inside; /* where the thread is */
    enum region_kind kind;
    bool in_node; /* of backward: the scopes of a node are around it */
};

static __thread struct region running;

/* ---- Layers ------------------------------------------------------------------- */

/* In backward the module is not called again. The node of a compiled function that calls modules
 * was created in the program, outside of them. */
static void enter_root(const struct ml_extension_api *recorder, const struct layer *layer)
{
    if (running.in_node)
        recorder->enter_backward_code();
    if (running.kind != FORWARD)
        recorder->enter_layer(layer->root, layer->root_class, false);
    else
        recorder->enter_module(layer->root, layer->root_class);
}

static void leave_root(const struct ml_extension_api *recorder)
{
    if (running.kind != FORWARD)
        recorder->leave_layer();
    else
        recorder->leave_module();
    if (running.in_node)
        recorder->leave_backward_code();
}

static void move_to(struct layer to)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct layer from = running.inside;

    running.inside = to;
    if (from.name)
        recorder->leave_layer();
    if (from.root != to.root && from.root)
        leave_root(recorder);
    if (from.root != to.root && to.root)
        enter_root(recorder, &to);
    if (to.name)
        recorder->enter_layer(to.name, to.class_name, !to.root);
}

static PyObject *enter_layer(PyObject *self, PyObject *place)
{
    size_t number = running.count ? PyLong_AsSize_t(place) : 0;

    (void)self;
    if (number < running.count &&
        memcmp(&running.layers[number], &running.inside, sizeof(running.inside)) != 0)
        move_to(running.layers[number]);
    PyErr_Clear(); /* a number that is none */
    Py_RETURN_NONE;
}

/* ---- Regions ------------------------------------------------------------------ */

/* The inputs of a region are a list of the program's tensors and the model's. */
static void label_inputs(PyObject *inputs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    char name[32];
    int count = 0;

    for (Py_ssize_t i = 0; PyList_Check(inputs) && i < PyList_Size(inputs); i++) {
        PyObject *input = PyList_GetItem(inputs, i);
        if (!ml_tensor_is_plain(input) || ml_tracked_find(input))
            continue;
        snprintf(name, sizeof(name), "input.%d", count++);
        ml_tensor_label(input, recorder->name(name, strlen(name)), MEMLEDGER_INPUT);
    }
}

/* A function that calls modules is compiled together with them: there is no outermost module. */
static void begin_outermost(PyObject *inputs)
{
    if (ml_steps_note_call(NULL, NULL))
        ml_tracked_check();
    if (inputs)
        label_inputs(inputs);
}

static bool names_roots(const struct layer *layers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (layers[i].root)
            return true;
    return false;
}

/* Runs the region's code. Its layers are not inside the one of the pass around it. */
static PyObject *run_region(struct ml_scoped_call *self, struct region region, PyObject *args,
                            PyObject *kwargs)
{
    struct region outer = running;
    struct layer left = outer.kind == WHOLE_PASS ? outer.inside : (struct layer){0};
    PyObject *result;

    if (outer.kind == WHOLE_PASS)
        move_to((struct layer){0});
    outer.inside = running.inside;
    running = region;
    if (region.kind == WHOLE_PASS && region.count)
        move_to(region.layers[0]);
    result = PyObject_Call(self->original, args, kwargs);
    running.layers = region.layers; /* greenlets take turns on one thread */
    move_to((struct layer){0});
    running = outer;
    if (outer.kind == WHOLE_PASS)
        move_to(left);
    return result;
}

/* The namer is the list of layers, the number the kind. Those of a whole pass are the one for
 * memory that its code does not name. */
static PyObject *call_region(struct ml_scoped_call *self, PyObject *inputs, PyObject *args,
                             PyObject *kwargs)
{
    struct region region = {.layers = (const struct layer *)PyBytes_AsString(self->namer),
                            .count = (size_t)PyBytes_Size(self->namer) / sizeof(struct layer),
                            .kind = (enum region_kind)self->number};
    const struct ml_extension_api *recorder = ml_native_recorder();
    bool is_outermost = recorder->is_outermost() && running.kind != WHOLE_PASS;
    /* A node would say so, and so does a pass. */
    bool begins_backward = region.kind != FORWARD && is_outermost;
    PyObject *result;

    region.in_node = region.kind == BACKWARD && !is_outermost && running.kind != WHOLE_PASS;
    if (region.kind == FORWARD && is_outermost && names_roots(region.layers, region.count))
        begin_outermost(inputs);
    if (PyErr_Occurred())
        return NULL;
    if (begins_backward)
        recorder->enter_backward_code();
    result = run_region(self, region, args, kwargs);
    if (begins_backward)
        recorder->leave_backward_code();
    return result;
}

/* ---- From Python ---------------------------------------------------------------- */

/* None, or (root, class of the root, name, class), each a str; "": none. */
static int read_layer(PyObject *item, struct layer *ret)
{
    PyObject *texts[4];
    uint32_t numbers[4];

    *ret = (struct layer){0};
    if (item == Py_None)
        return 0;
    if (!PyArg_ParseTuple(item, "UUUU", &texts[0], &texts[1], &texts[2], &texts[3]))
        return -1;
    for (size_t i = 0; i < 4; i++)
        numbers[i] = PyUnicode_GetLength(texts[i]) > 0 ? ml_native_name(texts[i]) : 0;
    *ret = (struct layer){numbers[0], numbers[1], numbers[2], numbers[3]};
    return 0;
}

static PyObject *pack_layers(PyObject *self, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    PyObject *packed = count < 0 ? NULL : PyBytes_FromStringAndSize(NULL, 0);

    (void)self;
    for (Py_ssize_t i = 0; packed && i < count; i++) {
        struct layer layer;
        PyObject *part;

        if (read_layer(PyList_GetItem(list, i), &layer)) {
            Py_CLEAR(packed);
            break;
        }
        part = PyBytes_FromStringAndSize((const char *)&layer, sizeof(layer));
        PyBytes_Concat(&packed, part);
        Py_XDECREF(part);
    }
    return packed;
}

static PyObject *scoped_region(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *made = ml_scoped_call_make(args, kwargs, call_region);
    struct ml_scoped_call *call = (struct ml_scoped_call *)made;

    (void)self;
    if (made && (!call->namer || !PyBytes_Check(call->namer) || call->number < 0 ||
                 call->number >= REGION_KINDS)) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_TypeError,
                        "scoped_region needs the result of pack_layers and a kind");
        return NULL;
    }
    return made;
}

static PyMethodDef methods[] = {
    {"enter_layer", enter_layer, METH_O, "enter_layer(place): by its number in the region."},
    {"pack_layers", pack_layers, METH_O,
     "pack_layers([(root, its class, name, class) or None]): without a root, relative names."},
    {"scoped_region", (PyCFunction)(void (*)(void))scoped_region, METH_VARARGS | METH_KEYWORDS,
     "scoped_region(original, namer=packed layers, number=kind): wraps compiled code. The kind is "
     "1 "
     "for code of backward, 2 for a whole pass."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_compiled_calls(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
