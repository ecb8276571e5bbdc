/* step_bounds.c: see step_bounds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "step_bounds.h"

#include <stdint.h>

#include "event.h"
#include "interned.h"
#include "recorder.h"

#define MET_MAX 16

static struct {
    uint64_t next;
    uint64_t begun;     /* steps, also after their numbers start over */
    bool called;        /* an outermost module was called in this step */
    bool has_optimizer; /* the program has or had one */
    bool manual;        /* the program reports its steps */
    bool trained;       /* a call in this step trained */
    bool ever_trained;
    bool evaluating;           /* this step has not begun */
    PyObject *is_grad_enabled; /* PyTorch's function, NULL: not imported */
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
        recorder->step(number, steps.manual ? "" : ML_STEP_AUTOMATIC);
    steps.next = number + 1;
    steps.begun++;
    steps.called = steps.trained = steps.evaluating = false;
}

/* ---- Calls ------------------------------------------------------------------------ */

/* Whether it is true; if it cannot be known, too. */
static bool is_true(PyObject *value)
{
    bool known = value && value != Py_True ? PyObject_IsTrue(value) != 0 : true;

    Py_XDECREF(value);
    ml_native_forget_error();
    return known;
}

/* Whether PyTorch's operations make a graph in this thread now. */
static bool with_gradients(void)
{
    return steps.is_grad_enabled &&
           is_true(PyObject_CallFunctionObjArgs(steps.is_grad_enabled, NULL));
}

static bool trains(PyObject *module, struct ml_call_history *history)
{
    bool has_mode = is_true(PyObject_GetAttr(module, ml_str.training));

    if (!with_gradients() || (!has_mode && history->trained_in_mode))
        return false;
    history->trained = steps.ever_trained = true;
    history->trained_in_mode |= has_mode;
    return true;
}

/* Precondition: the call does not train. */
static bool evaluates(PyObject *module, struct ml_call_history *history)
{
    bool is_second = history->quiet_step == steps.begun;

    if (!history->trained && steps.ever_trained)
        return false;
    history->quiet_step = steps.begun;
    return is_second ||
           (history->trained_in_mode && !is_true(PyObject_GetAttr(module, ml_str.training)));
}

static void begin_evaluation(void)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    if (recorder)
        recorder->step(steps.next - 1, ML_STEP_EVALUATION);
    steps.evaluating = true;
}

/* In a program with an optimizer. Precondition: a step has begun. */
static void note_purpose(PyObject *module, struct ml_call_history *history)
{
    if (trains(module, history)) {
        if (steps.evaluating)
            begin(steps.next - 1);
        steps.trained = true;
    } else if (!steps.trained && !steps.evaluating && evaluates(module, history)) {
        begin_evaluation();
    }
}

bool ml_steps_note_call(PyObject *module, struct ml_call_history *history)
{
    bool first;

    if (!steps.manual && (!steps.next || !steps.has_optimizer))
        begin(steps.next);
    if (!steps.manual && steps.has_optimizer && module && steps.is_grad_enabled)
        note_purpose(module, history);
    first = !steps.called;
    steps.called = true;
    return first;
}

void ml_steps_note_backward(void)
{
    if (!steps.evaluating || steps.manual)
        return;
    begin(steps.next - 1);
    steps.trained = true;
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
    if (steps.manual || !leads(optimizer))
        return;
    if (steps.evaluating) /* it trained without a call that says so */
        begin(steps.next - 1);
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

/* The next call is step 0, unless the program has numbers of its own. */
static void start_over(void)
{
    if (!steps.manual)
        steps.next = 0;
}

static PyObject *steps_from_zero(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    start_over();
    steps.called = steps.trained = steps.evaluating = false;
    Py_RETURN_NONE;
}

/* Calls before the first optimizer counted as steps: a test of the shapes, a layer that is
 * initialised, an evaluation. They were none. */
static PyObject *optimizer_made(PyObject *self, PyObject *optimizer)
{
    (void)self;
    if (!steps.has_optimizer)
        start_over();
    steps.has_optimizer = true;
    if (optimizer != Py_None)
        (void)add(&steps.made, optimizer);
    Py_RETURN_NONE;
}

static PyObject *set_grad_query(PyObject *self, PyObject *function)
{
    (void)self;
    Py_INCREF(function);
    Py_XDECREF(steps.is_grad_enabled);
    steps.is_grad_enabled = function;
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
    {"set_grad_query", set_grad_query, METH_O, "Sets torch.is_grad_enabled."},
    {"step_again", step_again, METH_NOARGS, "Repeats the current step."},
    {"steps_from_zero", steps_from_zero, METH_NOARGS, "Makes the next automatic step number 0."},
    {"step", step, METH_O, "step(number or None): a step of the program begins now."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_steps(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
