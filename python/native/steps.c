/* steps.c: see steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "steps.h"

#include <stdint.h>

#include "recorder.h"

#define MET_MAX 16

static struct {
    uint64_t next;
    bool called;            /* an outermost module was called in this step */
    bool has_optimizer;     /* the program has or had one */
    bool manual;            /* the program reports its steps */
    const PyObject *leader; /* for comparison only */
    const PyObject *rival;  /* made the last step that was not the leader's */
    unsigned rival_steps;
    const PyObject *met[MET_MAX]; /* for comparison only */
    unsigned met_count;
    PyObject *made[MET_MAX]; /* weak references */
    unsigned made_count;
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

static bool is_met(const PyObject *optimizer)
{
    for (unsigned i = 0; i < steps.met_count; i++)
        if (steps.met[i] == optimizer)
            return true;
    return false;
}

/* Whether this is its first step; optimizers beyond the first few never count as new. */
static bool is_new(const PyObject *optimizer)
{
    if (is_met(optimizer) || steps.met_count == MET_MAX)
        return false;
    steps.met[steps.met_count++] = optimizer;
    return true;
}

/* Whether an optimizer exists that has made no step yet. */
static bool more_to_come(void)
{
    for (unsigned i = 0; i < steps.made_count; i++) {
        const PyObject *optimizer = PyWeakref_GetObject(steps.made[i]);
        if (optimizer && optimizer != Py_None && !is_met(optimizer))
            return true;
    }
    return false;
}

static bool leads(const PyObject *optimizer)
{
    bool is_first = is_new(optimizer);

    if (is_first || !steps.leader)
        steps.leader = optimizer;
    if (is_first && more_to_come())
        return false;
    if (optimizer == steps.leader) {
        steps.rival = NULL;
        return true;
    }
    steps.rival_steps = optimizer == steps.rival ? steps.rival_steps + 1 : 1;
    steps.rival = optimizer;
    if (steps.rival_steps < RIVAL_STEPS)
        return false;
    steps.leader = optimizer;
    steps.rival = NULL;
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
    if (optimizer != Py_None && steps.made_count < MET_MAX) {
        PyObject *reference = PyWeakref_NewRef(optimizer, NULL);
        if (reference)
            steps.made[steps.made_count++] = reference;
        else
            PyErr_Clear();
    }
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
