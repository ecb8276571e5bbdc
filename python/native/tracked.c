/* tracked.c: see tracked.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tracked.h"

#include <stdlib.h>

#include "interned.h"
#include "memledger/memledger.h"
#include "recorder.h"
#include "tensors.h"

struct tracked {
    PyObject *alive; /* weak reference to the tensor */
    uintptr_t data;  /* its address when it was last labelled */
    PyObject *text;  /* its name, a str */
    uint32_t name;   /* the same, as the recorder's number */
    int category;
    int cuda_device;      /* -1: the host; the gradient is on the same device */
    bool gradient_begins; /* its last gradient was at the start of its block */
};

/* Querying a tensor may run Python code, which may re-enter here or let other threads run.
 * Entries therefore do not move while the list is in use. */
static struct {
    struct tracked **items;
    size_t len, room;
    unsigned users;
} all;

/* A new reference; NULL if the tensor no longer exists. */
static PyObject *tensor_of(const struct tracked *t)
{
    PyObject *tensor = PyWeakref_GetObject(t->alive);

    if (tensor == Py_None)
        return NULL;
    Py_INCREF(tensor);
    return tensor;
}

/* Whether a tensor at the start of the block gives the block its name. */
static bool has_beginning(uintptr_t block)
{
    for (size_t i = 0; i < all.len; i++) {
        if (all.items[i]->data == block)
            return true;
    }
    return false;
}

/* Labels the tensor if it moved. Several may share a block, such as weights that cuDNN needs
 * contiguous. */
static void check(struct tracked *t, PyObject *tensor)
{
    uintptr_t data = ml_tensor_data(tensor);
    struct ml_tensor_block block;

    if (data == t->data)
        return;
    t->data = data;
    block = ml_tensor_block(tensor);
    t->cuda_device = block.cuda_device;
    t->gradient_begins = false;
    if (block.begins || !has_beginning(block.address))
        ml_block_label(&block, t->name, t->category);
}

/* Removes entries whose tensor no longer exists. */
static void forget_the_dead(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < all.len; i++) {
        struct tracked *t = all.items[i];
        if (PyWeakref_GetObject(t->alive) != Py_None) {
            all.items[kept++] = t;
            continue;
        }
        Py_DECREF(t->alive);
        Py_XDECREF(t->text);
        free(t);
    }
    all.len = kept;
}

void ml_tracked_check(void)
{
    if (!all.users)
        forget_the_dead();
    all.users++;
    for (size_t i = 0; i < all.len; i++) {
        PyObject *tensor = tensor_of(all.items[i]);
        if (tensor)
            check(all.items[i], tensor);
        Py_XDECREF(tensor);
    }
    all.users--;
}

/* Queries as little as possible, because it runs for every parameter in every step. Assumes
 * that a gradient keeps its position in its block, and checks that now and then. */
static struct ml_tensor_block gradient_block(struct tracked *t, PyObject *gradient, bool look)
{
    struct ml_tensor_block block = {.cuda_device = t->cuda_device, .begins = true};

    if (t->gradient_begins && !look) {
        block.address = ml_tensor_data(gradient);
        return block;
    }
    block = ml_tensor_block(gradient);
    t->gradient_begins = block.begins;
    return block;
}

/* Gradients in the same block follow one another. */
void ml_tracked_label_gradients(void)
{
    static unsigned passes;
    bool look = !(passes & (passes + 1));
    uintptr_t previous = 0;

    passes++;
    all.users++;
    for (size_t i = 0; i < all.len; i++) {
        struct tracked *t = all.items[i];
        PyObject *tensor = t->category == MEMLEDGER_PARAMETER ? tensor_of(t) : NULL;
        PyObject *gradient = tensor ? PyObject_GetAttr(tensor, ml_str.grad) : NULL;

        if (gradient && gradient != Py_None) {
            struct ml_tensor_block block = gradient_block(t, gradient, look);
            if (block.begins || block.address != previous)
                ml_block_label(&block, t->name, MEMLEDGER_GRADIENT);
            previous = block.address;
        }
        Py_XDECREF(gradient);
        Py_XDECREF(tensor);
        ml_native_forget_error();
    }
    all.users--;
}

static struct tracked *find(PyObject *tensor)
{
    for (size_t i = 0; i < all.len; i++) {
        if (PyWeakref_GetObject(all.items[i]->alive) == tensor)
            return all.items[i];
    }
    return NULL;
}

static bool make_room(void)
{
    size_t room = all.room ? 2 * all.room : 256;
    struct tracked **items;

    if (all.len < all.room)
        return true;
    items = realloc(all.items, room * sizeof(*items));
    if (items) {
        all.items = items;
        all.room = room;
    }
    return items;
}

static struct tracked *add(PyObject *tensor)
{
    PyObject *alive = PyWeakref_NewRef(tensor, NULL);
    struct tracked *t = alive ? calloc(1, sizeof(*t)) : NULL;

    if (!t || !make_room()) {
        free(t);
        Py_XDECREF(alive);
        return alive ? (void *)PyErr_NoMemory() : NULL;
    }
    t->alive = alive;
    all.items[all.len++] = t;
    return t;
}

static PyObject *track(PyObject *self, PyObject *args)
{
    PyObject *tensor, *text;
    int category;
    struct tracked *t;

    (void)self;
    if (!PyArg_ParseTuple(args, "OUi", &tensor, &text, &category))
        return NULL;
    t = find(tensor);
    if (!t)
        t = add(tensor);
    if (!t)
        return NULL;
    Py_INCREF(text);
    Py_XDECREF(t->text);
    t->text = text;
    t->name = ml_native_name(text);
    t->category = category;
    t->data = 0;
    all.users++;
    check(t, tensor);
    all.users--;
    Py_RETURN_NONE;
}

static PyObject *tracked_name(PyObject *self, PyObject *tensor)
{
    const struct tracked *t = find(tensor);

    (void)self;
    if (!t)
        Py_RETURN_NONE;
    Py_INCREF(t->text);
    return t->text;
}

/* Repeats all labels for a recording that begins. */
static PyObject *track_again(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    for (size_t i = 0; i < all.len; i++)
        all.items[i]->data = 0;
    ml_tracked_check();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"track_again", track_again, METH_NOARGS, "Labels all tracked tensors."},
    {"tracked_name", tracked_name, METH_O, "The name that a tensor is tracked by, or None."},
    {"track", track, METH_VARARGS,
     "track(tensor, name, category): labels the tensor, and again when it moves."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_tracked(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
