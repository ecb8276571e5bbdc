/* scoped_call.h: a callable that stands in front of another and tells the recorder that
 * a thread is inside it, however the call ends.
 *
 * One stands in front of torch.nn.Module.__call__, so that it runs for every call of
 * every module; one in front of the step of each class of optimizers; one in front of
 * torch.autograd.backward; and the like in front of MXNet's blocks, trainers and
 * executors. In C because of the first, and because code that PyTorch compiles passes C
 * functions by.
 *
 * What it tells is a function: module_calls.c and phase_calls.c have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SCOPED_CALL_H
#define ML_SCOPED_CALL_H

#include "native.h"
#include "recorder.h"

struct ml_scoped_call;

/* A call while something is recorded. The first argument is mostly what is called; NULL:
 * there is none. */
typedef PyObject *ml_scoped_function(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                                     PyObject *kwargs);

struct ml_scoped_call {
    PyObject_HEAD PyObject *original;
    PyObject *attributes; /* __dict__ */
    PyObject *weak_references;
    /* Functions of the package's, or NULL; the caller of each says what it is given. */
    PyObject *namer, *before, *after;
    int number; /* of the function's own */
    ml_scoped_function *call;
};

/* From make(original, namer=None, before=None, after=None, number=0).
 * @return NULL with an exception set */
PyObject *ml_scoped_call_make(PyObject *args, PyObject *kwargs, ml_scoped_function *function);

/* Calls one of the package's functions, if it is there, with the arguments before the
 * first that is NULL. Only an interrupt or an exit is left behind. */
void ml_scoped_call_tell(PyObject *listener, PyObject *object, PyObject *more, PyObject *most);

/* The name of an object's class; a new reference, NULL with an exception set. */
PyObject *ml_class_name(PyObject *object);

#endif
