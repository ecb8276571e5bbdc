/* scoped_call.h: a callable that wraps another and tells the recorder when a thread enters and
 * leaves it, however the call ends.
 *
 * One wraps torch.nn.Module.__call__ and runs for every call of every module. Others wrap the
 * step of each optimizer class, torch.autograd.backward, and MXNet's blocks, trainers and
 * executors. It is in C because of the first, and because PyTorch's compiler does not trace
 * into C functions.
 *
 * The functions that it runs are in module_calls.c and phase_calls.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SCOPED_CALL_H
#define ML_SCOPED_CALL_H

#include "native.h"
#include "recorder.h"

struct ml_scoped_call;

/* A call during a recording. The first argument is usually the called object; NULL: none. */
typedef PyObject *ml_scoped_function(struct ml_scoped_call *self, PyObject *first, PyObject *args,
                                     PyObject *kwargs);

struct ml_scoped_call {
    PyObject_HEAD PyObject *original;
    PyObject *attributes; /* __dict__ */
    PyObject *weak_references;
    /* Functions of the package, or NULL; the caller of each documents its arguments. */
    PyObject *namer, *before, *after;
    int number; /* meaning defined by `call` */
    ml_scoped_function *call;
};

/* From make(original, namer=None, before=None, after=None, number=0).
 * @return NULL with an exception set */
PyObject *ml_scoped_call_make(PyObject *args, PyObject *kwargs, ml_scoped_function *function);

/* The same for a call that the package is not told of. */
PyObject *ml_scoped_call_around(PyObject *original, int number, ml_scoped_function *function);

/* Calls one of the package's functions, if set, with the arguments before the first NULL.
 * Clears all exceptions except an interrupt or an exit. */
void ml_scoped_call_tell(PyObject *listener, PyObject *object, PyObject *more, PyObject *most);

/* The name of an object's class; a new reference, NULL with an exception set. */
PyObject *ml_class_name(PyObject *object);

#endif
