/* function_calls.c: custom autograd Functions as scopes, by the name of their class.
 *
 * A Function is applied inside a module or in the program's own code. It counts as a module below
 * its caller: the blocks of its forward, and of the node that it adds to the graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "module_calls.h"
#include "scoped_call.h"

/* PyTorch implements features of its own as Functions, such as checkpoints and compiled graphs:
 * the layers in them have names. */
static bool is_of_torch(PyObject *function)
{
    PyObject *module = PyObject_GetAttrString(function, "__module__");
    PyObject *prefix = PyUnicode_FromString("torch.");
    bool found = module && prefix && PyUnicode_Check(module) &&
                 PyUnicode_Tailmatch(module, prefix, 0, PY_SSIZE_T_MAX, -1) == 1;

    Py_XDECREF(module);
    Py_XDECREF(prefix);
    ml_native_forget_error();
    return found;
}

/* The recorder's numbers of a name below the caller's, and of the class. */
struct scope_name {
    uint32_t name, class_name;
};

static struct scope_name name_of(PyObject *function)
{
    PyObject *class_name = PyObject_GetAttrString(function, "__name__");
    PyObject *caller = ml_module_calls_innermost();
    PyObject *text = class_name && PyUnicode_Check(class_name) && caller
                         ? PyUnicode_FromFormat("%U.%U", caller, class_name)
                         : NULL;
    struct scope_name found = {0, 0};

    if (class_name && PyUnicode_Check(class_name))
        found.class_name = ml_native_name(class_name);
    found.name = text ? ml_native_name(text) : found.class_name;
    Py_XDECREF(class_name);
    Py_XDECREF(text);
    ml_native_forget_error();
    return found;
}

static PyObject *call_function(struct ml_scoped_call *self, PyObject *function, PyObject *args,
                               PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    bool has_scope = function && !is_of_torch(function);
    struct scope_name scope = has_scope ? name_of(function) : (struct scope_name){0, 0};
    PyObject *result;

    if (PyErr_Occurred())
        return NULL;
    if (!scope.name)
        return PyObject_Call(self->original, args, kwargs);
    recorder->enter_module(scope.name, scope.class_name);
    result = PyObject_Call(self->original, args, kwargs);
    recorder->leave_module();
    recorder->note_function();
    return result;
}

static PyObject *scoped_function(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_function);
}

static PyMethodDef methods[] = {
    {"scoped_function", (PyCFunction)(void (*)(void))scoped_function, METH_VARARGS | METH_KEYWORDS,
     "Wraps torch.autograd.Function.apply, which is called with the class."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_function_calls(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
