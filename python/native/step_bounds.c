/* step_bounds.c: see step_bounds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "step_bounds.h"

#include <stdint.h>

#include "recorder.h"

#define MET_MAX 16

static struct {
    uint64_t next;
    bool called;        /* an outermost module was called in this step */
    bool has_optimizer; /* the program has or had one */
    bool manual;        /* the program reports its steps */
    /* Weak references to optimizers: another may be where one was that is gone. */
    PyObject *leader; /* NULL: none, likewise the next */
    PyObject *rival;  /* made the last step that was not the leader's */
    unsigned rival_steps;
    struct references {
        PyObject *items[MET_MAX];
        unsigned count;
    } met, made;
} steps;

/* After so many steps of another optimizer, the leader counts as gone. */
#define RIVAL_STEPS 3

static void begin(uint64_t number)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    if (recorder)
        recorder->step(number, !steps.manual);
    steps.next = number + 1;
    steps.called = false;
}

bool ml_steps_note_call(void)
{
    bool first;

    if (!steps.manual && (!steps.next || !steps.has_optimizer))
        begin(steps.next);
    first = !steps.called;
    steps.called = true;
    return first;
}

/* ---- References ------------------------------------------------------------------ */

static bool is(PyObject *reference, const PyObject *optimizer)
{
    return reference && PyWeakref_GetObject(reference) == optimizer;
}

/* NULL for NULL, and where there is no memory. */
static void refer(PyObject **at, PyObject *optimizer)
{
    PyObject *old = *at;

    *at = optimizer ? PyWeakref_NewRef(optimizer, NULL) : NULL;
    if (optimizer && !*at)
        PyErr_Clear();
    Py_XDECREF(old);
}

static void forget_the_dead(struct references *r)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < r->count; i++) {
        if (is(r->items[i], Py_None))
            Py_DECREF(r->items[i]);
        else
            r->items[kept++] = r->items[i];
    }
    r->count = kept;
}

/* @return whether there is room among those that live */
static bool add(struct references *r, PyObject *optimizer)
{
    PyObject *reference = NULL;

    /* First: to make a reference may run Python code, which may add others. */
    refer(&reference, optimizer);
    forget_the_dead(r);
    if (!reference || r->count == MET_MAX) {
        Py_XDECREF(reference);
        return false;
    }
    r->items[r->count++] = reference;
    return true;
}

/* ---- Optimizers ------------------------------------------------------------------- */

static bool is_met(const PyObject *optimizer)
{
    for (unsigned i = 0; i < steps.met.count; i++)
        if (is(steps.met.items[i], optimizer))
            return true;
    return false;
}

/* Whether this is its first step; optimizers beyond the first few never count as new. */
static bool is_new(PyObject *optimizer)
{
    return !is_met(optimizer) && add(&steps.met, optimizer);
}

/* Whether an optimizer exists that has made no step yet. */
static bool more_to_come(void)
{
    for (unsigned i = 0; i < steps.made.count; i++) {
        const PyObject *optimizer = PyWeakref_GetObject(steps.made.items[i]);
        if (optimizer && optimizer != Py_None && !is_met(optimizer))
            return true;
    }
    return false;
}

static bool leads(PyObject *optimizer)
{
    bool is_first = is_new(optimizer);

    if (is_first || !steps.leader)
        refer(&steps.leader, optimizer);
    if (is_first && more_to_come())
        return false;
    if (is(steps.leader, optimizer)) {
        refer(&steps.rival, NULL);
        return true;
    }
    steps.rival_steps = is(steps.rival, optimizer) ? steps.rival_steps + 1 : 1;
    refer(&steps.rival, optimizer);
    if (steps.rival_steps < RIVAL_STEPS)
        return false;
    refer(&steps.leader, optimizer);
    refer(&steps.rival, NULL);
    return true;
}

void ml_steps_note_optimizer(PyObject *optimizer)
{
    steps.has_optimizer = true;
    if (!steps.manual && leads(optimizer))
        begin(steps.next);
}

/* Repeats the current step for a recording that begins. */
static PyObject *step_again(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    if (steps.next)
        begin(steps.next - 1);
    Py_RETURN_NONE;
}

static PyObject *optimizer_made(PyObject *self, PyObject *optimizer)
{
    (void)self;
    steps.has_optimizer = true;
    if (optimizer != Py_None)
        (void)add(&steps.made, optimizer);
    Py_RETURN_NONE;
}

static PyObject *step(PyObject *self, PyObject *number)
{
    (void)self;
    if (number != Py_None) {
        uint64_t n = PyLong_AsUnsignedLongLong(number);
        if (PyErr_Occurred())
            return NULL;
        steps.next = n;
    } else if (!steps.manual && steps.next && !steps.called) {
        steps.next--; /* an optimizer has just begun it */
    }
    steps.manual = true;
    begin(steps.next);
    return PyLong_FromUnsignedLongLong(steps.next - 1);
}

static PyMethodDef methods[] = {
    {"optimizer_made", optimizer_made, METH_O,
     "optimizer_made(optimizer or None): from now on its steps count."},
    {"step_again", step_again, METH_NOARGS, "Repeats the current step."},
    {"step", step, METH_O, "step(number or None): a step of the program begins now."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_steps(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
