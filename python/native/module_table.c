/* module_table.c: see module_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "module_table.h"

#include <stdlib.h>

#include "recorder.h"

#define SLOTS_LEAST 1024

static struct {
    struct ml_module_entry **slots;
    size_t mask;
    size_t used;  /* slots, including those of dead modules */
    size_t named; /* modules that were named since the slots were last looked through */
} table;

static size_t slot_of(uintptr_t module)
{
    return (size_t)((module >> 4) * 0x9e3779b97f4a7c15u >> 24);
}

/* Borrowed; NULL: it is gone, or has no name yet. */
static PyObject *living(const struct ml_module_entry *e)
{
    PyObject *object = NULL;

    if (e->alive)
        object = (uintptr_t)e->alive == e->module ? e->alive : PyWeakref_GetObject(e->alive);
    return object == Py_None ? NULL : object;
}

PyObject *ml_module_of(const struct ml_module_entry *entry)
{
    PyObject *module = living(entry);

    Py_XINCREF(module);
    return module;
}

/* Where the entry of that address is, alive or dead, or would be. */
static struct ml_module_entry **place_of(uintptr_t module)
{
    size_t i = slot_of(module) & table.mask;

    while (table.slots[i] && table.slots[i]->module != module)
        i = (i + 1) & table.mask;
    return &table.slots[i];
}

struct ml_module_entry *ml_module_find(PyObject *module)
{
    struct ml_module_entry *e = table.slots ? *place_of((uintptr_t)module) : NULL;

    return e && living(e) == module ? e : NULL;
}

/* ---- Holders ---------------------------------------------------------------------- */

struct ml_module_entry *ml_module_hold(struct ml_module_entry *entry)
{
    if (entry)
        entry->holders++;
    return entry;
}

void ml_module_release(struct ml_module_entry *entry)
{
    if (!entry || --entry->holders)
        return;
    Py_XDECREF(entry->alive);
    Py_XDECREF(entry->root);
    Py_XDECREF(entry->text);
    free(entry);
}

/* ---- Room ------------------------------------------------------------------------- */

static size_t count_living(void)
{
    size_t count = 0;

    for (size_t i = 0; table.slots && i <= table.mask; i++)
        count += table.slots[i] && living(table.slots[i]);
    return count;
}

/* At most a quarter is taken by the living, so that the next look is far. */
static size_t wanted_slots(size_t alive)
{
    size_t size = SLOTS_LEAST;

    while (size < 4 * alive)
        size *= 2;
    return size;
}

/* Slots for those that live; the dead are let go of. */
static bool look_through(void)
{
    struct ml_module_entry **old = table.slots;
    size_t old_size = old ? table.mask + 1 : 0;
    size_t size = wanted_slots(count_living());
    struct ml_module_entry **slots = calloc(size, sizeof(*slots));

    if (!slots)
        return false;
    table.slots = slots;
    table.mask = size - 1;
    table.used = table.named = 0;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] && living(old[i])) {
            *place_of(old[i]->module) = old[i];
            table.used++;
        } else {
            ml_module_release(old[i]);
        }
    }
    free(old);
    return true;
}

/* Also when many were named: most of the others may be dead. */
static bool make_room(void)
{
    size_t size = table.slots ? table.mask + 1 : 0;

    return (size && table.used < size / 2 && table.named < size) || look_through();
}

/* The entry of that address, which is made where there is none; NULL: no memory. */
static struct ml_module_entry *entry_at(uintptr_t module)
{
    struct ml_module_entry **place = make_room() ? place_of(module) : NULL;

    if (!place || *place)
        return place ? *place : NULL;
    *place = calloc(1, sizeof(**place));
    if (*place) {
        (*place)->module = module;
        (*place)->holders = 1;
        table.used++;
    }
    return *place;
}

/* ---- Naming ----------------------------------------------------------------------- */

/* A weak reference, or the module itself. */
static PyObject *reference_to(PyObject *module)
{
    PyObject *alive = PyWeakref_NewRef(module, NULL);

    if (alive)
        return alive;
    PyErr_Clear();
    Py_INCREF(module);
    return module;
}

/* Takes the reference. From then on the entry is its module's. */
static void revive(struct ml_module_entry *e, PyObject *module, PyObject *alive)
{
    if (living(e) == module) {
        Py_DECREF(alive);
        return;
    }
    Py_XDECREF(e->alive);
    Py_CLEAR(e->root);
    e->alive = alive;
    e->copy = e->hidden = e->wrapper = false;
    e->misses = 0;
    e->history = (struct ml_call_history){0};
    e->thread = 0;
    e->shared = false;
    table.named++;
}

/* To make a reference may run Python code, which may name others: it comes first. */
struct ml_module_entry *ml_module_name(PyObject *module, PyObject *text, PyObject *class_text)
{
    PyObject *alive = reference_to(module);
    struct ml_module_entry *e = entry_at((uintptr_t)module);

    if (!e) {
        Py_DECREF(alive);
        return (void *)PyErr_NoMemory();
    }
    revive(e, module, alive);
    Py_INCREF(text);
    Py_XDECREF(e->text);
    e->text = text;
    e->name = ml_native_name(text);
    e->class_name = ml_native_name(class_text);
    return e;
}

/* ---- Trees ------------------------------------------------------------------------ */

struct ml_module_entry *ml_module_root(struct ml_module_entry *entry)
{
    PyObject *root = entry->root ? PyWeakref_GetObject(entry->root) : Py_None;
    struct ml_module_entry *found = root == Py_None ? NULL : ml_module_find(root);

    return found ? found : entry;
}

int ml_module_set_root(struct ml_module_entry *entry, PyObject *root)
{
    PyObject *old = entry->root;
    PyObject *reference = (uintptr_t)root == entry->module ? NULL : PyWeakref_NewRef(root, NULL);

    if (!reference && (uintptr_t)root != entry->module)
        return -1;
    entry->root = reference;
    Py_XDECREF(old);
    return 0;
}
