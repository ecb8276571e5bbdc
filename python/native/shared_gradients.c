/* shared_gradients.c: see shared_gradients.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shared_gradients.h"

#include <stdlib.h>

#include "memledger/memledger.h"
#include "recorder.h"

#define ROOM_LEAST 1024 /* most models need no more */

struct ml_shared_gradient {
    struct ml_tensor_block block;
    size_t place; /* in the order of the model */
    struct ml_tracked *of;
};

static PyObject *joiner; /* of the package: one name from several */

static bool make_room(struct ml_shared_gradients *shared)
{
    size_t room = shared->room ? 2 * shared->room : ROOM_LEAST;
    struct ml_shared_gradient *items;

    if (shared->len < shared->room)
        return true;
    items = realloc(shared->items, room * sizeof(*items));
    if (!items)
        return false;
    shared->items = items;
    shared->room = room;
    return true;
}

void ml_shared_gradients_add(struct ml_shared_gradients *shared, struct ml_tracked *of,
                             const struct ml_tensor_block *block)
{
    if (!block->address || !make_room(shared))
        return;
    shared->items[shared->len] =
        (struct ml_shared_gradient){.block = *block, .place = shared->len, .of = of};
    shared->len++;
    shared->any |= !block->begins;
}

static int by_block(const void *a, const void *b)
{
    const struct ml_shared_gradient *x = a, *y = b;

    if (x->block.address != y->block.address)
        return x->block.address < y->block.address ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* The recorder's number of the name of several; 0: it cannot be made. */
static uint32_t joint_name(const struct ml_shared_gradient *items, size_t count)
{
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    PyObject *text = NULL;
    uint32_t number = 0;

    for (size_t i = 0; names && i < count; i++) {
        Py_INCREF(items[i].of->text);
        PyTuple_SetItem(names, (Py_ssize_t)i, items[i].of->text);
    }
    if (names && joiner)
        text = PyObject_CallFunctionObjArgs(joiner, names, NULL);
    if (text && PyUnicode_Check(text))
        number = ml_native_name(text);
    Py_XDECREF(names);
    Py_XDECREF(text);
    ml_native_forget_error();
    return number;
}

/* A tensor that is tracked as a whole has a name for all. */
static uint32_t name_of(const struct ml_shared_gradient *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].of->whole)
            return items[i].of->name;
    return count == 1 ? items->of->name : joint_name(items, count);
}

static size_t count_alike(const struct ml_shared_gradient *items, size_t len)
{
    size_t count = 1;

    while (count < len && items[count].block.address == items->block.address)
        count++;
    return count;
}

/* Gradients that begin their block and share it with none have their names already. */
static void label_shared(const struct ml_shared_gradients *shared)
{
    size_t count;

    for (size_t i = 0; i < shared->len && !PyErr_Occurred(); i += count) {
        const struct ml_shared_gradient *first = &shared->items[i];
        uint32_t name = 0;

        count = count_alike(first, shared->len - i);
        if (count > 1 || !first->block.begins)
            name = name_of(first, count);
        if (name)
            ml_block_label(&first->block, name, MEMLEDGER_GRADIENT);
    }
}

void ml_shared_gradients_label(struct ml_shared_gradients *shared)
{
    if (shared->any) {
        qsort(shared->items, shared->len, sizeof(*shared->items), by_block);
        label_shared(shared);
    }
    free(shared->items);
    *shared = (struct ml_shared_gradients){0};
}

static PyObject *set_joiner(PyObject *self, PyObject *function)
{
    PyObject *old = joiner;

    (void)self;
    Py_INCREF(function);
    joiner = function;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_joiner", set_joiner, METH_O, "The function that makes one name of a tuple of names."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_shared_gradients(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
