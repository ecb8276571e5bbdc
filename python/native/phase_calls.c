/* phase_calls.c: calls that are a phase of a training step: an optimizer's, backward, or
 * forward without a module call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "model_threads.h"
#include "scoped_call.h"
#include "step_bounds.h"
#include "tracked.h"

/* The number of MXNet optimizer calls that this thread is in. */
static __thread unsigned optimizing;

/* The number of PyTorch optimizer steps that this thread is in, less those whose closure it runs.
 */
static __thread unsigned stepping;

/* The optimizer of the innermost of these steps: only compared. */
static __thread const PyObject *stepper;

/* The thread has called backward, which labels gradients. */
static __thread bool has_backward;

/* The module of this thread's current phase: a Module's forward calls that of its executor,
 * under the same name, and is recorded once. 0: none. */
static __thread uint32_t named;

/* The recorder's number of the namer's name for the object, or of its class. An interrupt that
 * arrived meanwhile stays set: the caller must check for it. */
static uint32_t number_of(const struct ml_scoped_call *self, PyObject *object)
{
    PyObject *text = self->namer ? PyObject_CallFunctionObjArgs(self->namer, object, NULL)
                                 : ml_class_name(object);
    uint32_t number = text && PyUnicode_Check(text) ? ml_native_name(text) : 0;

    Py_XDECREF(text);
    ml_native_forget_error();
    return number;
}

/* ---- Errors of the program ------------------------------------------------------------ */

/* The error with which a call has ended, while more is done. All NULL: it succeeded. */
struct set_aside {
    PyObject *type, *value, *traceback;
};

static struct set_aside set_aside_error(void)
{
    struct set_aside error;

    PyErr_Fetch(&error.type, &error.value, &error.traceback);
    return error;
}

/* Returns the result of the call; NULL, and the newer error is set, if there is one. */
static PyObject *put_back(struct set_aside *error, PyObject *result)
{
    if (!PyErr_Occurred()) {
        PyErr_Restore(error->type, error->value, error->traceback);
        return result;
    }
    Py_XDECREF(error->type);
    Py_XDECREF(error->value);
    Py_XDECREF(error->traceback);
    Py_CLEAR(result);
    return NULL;
}

/* ---- Optimizers ------------------------------------------------------------------ */

/* A step that fails leaves state too. An interrupt that arrives while it gets its names replaces the
 * error. */
static PyObject *finish_optimizer(const struct ml_scoped_call *self, PyObject *optimizer,
                                  PyObject *result, bool is_step)
{
    struct set_aside error = set_aside_error();

    ml_scoped_call_tell(self->after, optimizer, NULL, NULL);
    if (result && is_step)
        ml_steps_note_optimizer(optimizer);
    return put_back(&error, result);
}

/* The closure of step(closure) runs forward and backward, which are no part of the optimizer. One
 * that the optimizer keeps for later is called outside of all steps. */
static PyObject *call_closure(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                              PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *result;

    (void)first;
    if (!stepping)
        return PyObject_Call(self->original, args, kwargs);
    stepping--;
    recorder->leave_optimizer();
    result = PyObject_Call(self->original, args, kwargs);
    recorder->enter_optimizer((uint32_t)self->number);
    stepping++;
    return result;
}

/* The arguments with another one in the second place; NULL with an exception set. */
static PyObject *with_second(PyObject *args, PyObject *second)
{
    PyObject *all = PyTuple_New(PyTuple_Size(args));

    for (Py_ssize_t i = 0; all && i < PyTuple_Size(args); i++) {
        PyObject *item = i == 1 ? second : PyTuple_GetItem(args, i);

        Py_INCREF(item);
        (void)PyTuple_SetItem(all, i, item); /* takes the reference; a new tuple has room */
    }
    return all;
}

static PyObject *with_keyword(PyObject *kwargs, const char *name, PyObject *value)
{
    PyObject *all = PyDict_Copy(kwargs);

    if (all && PyDict_SetItemString(all, name, value))
        Py_CLEAR(all);
    return all;
}

/* step(optimizer, closure), or step(optimizer, closure=closure). */
static PyObject *step_with_closure(const struct ml_scoped_call *self, uint32_t name, PyObject *args,
                                   PyObject *kwargs)
{
    PyObject *given = PyTuple_Size(args) > 1 ? PyTuple_GetItem(args, 1) : NULL;
    PyObject *closure = given || !kwargs ? given : PyDict_GetItemString(kwargs, "closure");
    PyObject *scoped, *changed, *result = NULL;

    if (!closure || !PyCallable_Check(closure))
        return PyObject_Call(self->original, args, kwargs);
    scoped = ml_scoped_call_around(closure, (int)name, call_closure);
    if (!scoped)
        return NULL;
    changed = given ? with_second(args, scoped) : with_keyword(kwargs, "closure", scoped);
    if (changed)
        result = PyObject_Call(self->original, given ? changed : args, given ? kwargs : changed);
    Py_XDECREF(changed);
    Py_DECREF(scoped);
    return result;
}

static PyObject *call_optimizer(struct ml_scoped_call *self, PyObject *optimizer, PyObject *args,
                                PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    const PyObject *outer = stepper;
    PyObject *result;
    uint32_t name;

    if (!optimizer)
        return PyObject_Call(self->original, args, kwargs);
    name = number_of(self, optimizer);
    if (PyErr_Occurred())
        return NULL;
    if (!has_backward) /* the program computes gradients itself, as with torch.func */
        ml_tracked_label_gradients();
    if (PyErr_Occurred())
        return NULL;
    stepper = optimizer;
    stepping++;
    recorder->enter_optimizer(name);
    result = step_with_closure(self, name, args, kwargs);
    recorder->leave_optimizer();
    stepping--;
    stepper = outer;
    return finish_optimizer(self, optimizer, result,
                            outer != optimizer); /* a subclass calls both */
}

/* MXNet's training calls nest: a trainer calls its updaters, which each update some parameters.
 * The outermost call is the scope, and a step if its number is not 0. */
static PyObject *call_trainer(struct ml_scoped_call *self, PyObject *trainer, PyObject *args,
                              PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    bool is_outermost = !optimizing;
    uint32_t name = trainer && is_outermost ? number_of(self, trainer) : 0;
    PyObject *result;

    if (PyErr_Occurred())
        return NULL;
    if (!trainer)
        return PyObject_Call(self->original, args, kwargs);
    optimizing++;
    if (is_outermost)
        recorder->enter_optimizer(name);
    result = PyObject_Call(self->original, args, kwargs);
    if (is_outermost)
        recorder->leave_optimizer();
    optimizing--;
    return result ? finish_optimizer(self, trainer, result, is_outermost && self->number) : NULL;
}

/* ---- Forward and backward --------------------------------------------------------- */

/* Backward that fails leaves gradients too. An interrupt that arrives while they get their names
 * replaces the error. */
static PyObject *call_backward(struct ml_scoped_call *self, PyObject *heads, PyObject *args,
                               PyObject *kwargs)
{
    struct set_aside error;
    PyObject *result;

    (void)heads;
    has_backward = true;
    ml_steps_note_backward();
    ml_model_thread_trains();
    result = PyObject_Call(self->original, args, kwargs);
    error = set_aside_error();
    ml_tracked_label_gradients();
    return put_back(&error, result);
}

/* A forward pass, not its preparation: without an optimizer, each is a step. */
#define RUN ML_PHASES

static enum ml_phase phase_of(long number)
{
    return number == ML_PHASE_BACKWARD ? ML_PHASE_BACKWARD : ML_PHASE_FORWARD;
}

/* A phase of MXNet, given by the number: before(args, kwargs), and after(args, kwargs, result).
 * With a namer it is also a module of that name. */
static PyObject *call_phase(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                            PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    uint32_t around, name = self->namer && first ? number_of(self, first) : 0;
    bool is_outermost;
    PyObject *result;

    if (PyErr_Occurred())
        return NULL;
    is_outermost = recorder->is_outermost();
    if (is_outermost)
        named = 0; /* calls of greenlets end in any order */
    around = named;
    if (name == around)
        name = 0;
    ml_scoped_call_tell(self->before, args, kwargs ? kwargs : Py_None, NULL);
    if (PyErr_Occurred())
        return NULL;
    if (is_outermost && self->number == RUN)
        ml_steps_note_call(NULL, NULL);
    recorder->enter_phase(phase_of(self->number));
    if (name)
        recorder->enter_module(named = name, 0);
    result = PyObject_Call(self->original, args, kwargs);
    if (name)
        recorder->leave_module();
    named = around;
    recorder->leave_phase();
    if (result)
        ml_scoped_call_tell(self->after, args, kwargs ? kwargs : Py_None, result);
    if (result && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

/* ---- From Python ----------------------------------------------------------------- */

static PyObject *scoped_optimizer(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_optimizer);
}

static PyObject *scoped_trainer(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_trainer);
}

static PyObject *scoped_backward(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_backward);
}

static PyObject *scoped_phase(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_phase);
}

static PyObject *enter_phase(PyObject *self, PyObject *number)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    long phase = PyLong_AsLong(number);

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    if (recorder && recorder->in_session())
        recorder->enter_phase(phase_of(phase));
    Py_RETURN_NONE;
}

static PyObject *leave_phase(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    if (recorder && recorder->in_session())
        recorder->leave_phase();
    Py_RETURN_NONE;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"scoped_optimizer", KEYWORDS(scoped_optimizer),
     "Wraps a PyTorch optimizer's step; calls `after` with the optimizer."},
    {"scoped_trainer", KEYWORDS(scoped_trainer),
     "Wraps an MXNet trainer or updater; number 1: each call is a step."},
    {"scoped_backward", KEYWORDS(scoped_backward), "Wraps torch.autograd.backward."},
    {"scoped_phase", KEYWORDS(scoped_phase),
     "Wraps a phase: PHASE_FORWARD, PHASE_BACKWARD or RUN, by its number."},
    {"enter_phase", enter_phase, METH_O, "enter_phase(PHASE_FORWARD or PHASE_BACKWARD)"},
    {"leave_phase", leave_phase, METH_NOARGS, "Leaves the phase that was entered last."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_phase_calls(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "RUN", RUN))
        return -1;
    return PyModule_AddFunctions(module, methods);
}
