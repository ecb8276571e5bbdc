/* module_table.c: see module_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "module_table.h"

#include <stdlib.h>

#include "recorder.h"

static struct {
    struct ml_module_entry **slots;
    size_t mask;
    size_t used; /* slots, including those of dead modules */
} table;

static size_t slot_of(const PyObject *module)
{
    return (size_t)(((uintptr_t)module >> 4) * 0x9e3779b97f4a7c15u >> 24);
}

static bool is_alive(const struct ml_module_entry *e)
{
    return e->alive && (e->alive == e->module || PyWeakref_GetObject(e->alive) == e->module);
}

/* The slot of the module's entry, alive or dead, or the slot where it would go. */
static struct ml_module_entry **place_of(const PyObject *module)
{
    size_t i = slot_of(module) & table.mask;

    while (table.slots[i] && table.slots[i]->module != module)
        i = (i + 1) & table.mask;
    return &table.slots[i];
}

struct ml_module_entry *ml_module_find(PyObject *module)
{
    struct ml_module_entry *e = table.slots ? *place_of(module) : NULL;

    return e && is_alive(e) ? e : NULL;
}

/* Keeps entries of dead modules whose call a thread may still be in. */
static bool make_room(void)
{
    size_t size = table.slots ? 2 * (table.mask + 1) : 1024;
    struct ml_module_entry **old = table.slots;
    size_t old_size = old ? table.mask + 1 : 0;
    struct ml_module_entry **slots;

    if (old && table.used * 2 <= old_size)
        return true;
    slots = calloc(size, sizeof(*slots));
    if (!slots)
        return false;
    table.slots = slots;
    table.mask = size - 1;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i])
            *place_of(old[i]->module) = old[i];
    }
    free(old);
    return true;
}

/* Sets the content of an existing entry, dead or alive. */
static void fill(struct ml_module_entry *e, PyObject *text, PyObject *class_text)
{
    if (!is_alive(e)) {
        PyObject *alive = PyWeakref_NewRef(e->module, NULL);
        if (!alive) {
            PyErr_Clear();
            alive = e->module;
            Py_INCREF(alive);
        }
        Py_XDECREF(e->alive);
        e->alive = alive;
        e->copy = e->hidden = false;
        e->misses = 0;
    }
    Py_INCREF(text);
    Py_XDECREF(e->text);
    e->text = text;
    e->name = ml_native_name(text);
    e->class_name = ml_native_name(class_text);
}

struct ml_module_entry *ml_module_name(PyObject *module, PyObject *text, PyObject *class_text)
{
    struct ml_module_entry *e;
    struct ml_module_entry **place;

    if (!make_room())
        return (void *)PyErr_NoMemory();
    place = place_of(module);
    e = *place;
    if (!e) {
        e = calloc(1, sizeof(*e));
        if (!e)
            return (void *)PyErr_NoMemory();
        e->module = module;
        *place = e;
        table.used++;
    }
    fill(e, text, class_text); /* may run Python code, which may move the slots */
    return e;
}
