/* calling_function.c: see calling_function.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling_function.h"

#include <stdbool.h>

#include "interned.h"
#include "recorder.h"
#include "step_bounds.h"
#include "tensors.h"

#define FRAMES_MAX 16 /* to look for one outside of PyTorch, in which wrappers call the model */

/* PyTorch's own folder, with a slash at its end. */
static PyObject *torch_folder;

/* The code object that was named last, and the recorder's number of its name. */
static PyObject *last_code;
static uint32_t last_name;

static bool has_graph(PyObject *result)
{
    bool tensors = PyTuple_Check(result) || PyList_Check(result) || PyDict_Check(result);
    PyObject *needs =
        ml_tensor_is_plain(result) ? PyObject_GetAttr(result, ml_str.requires_grad) : NULL;
    bool found = needs == Py_True || (tensors && ml_steps_with_gradients());

    Py_XDECREF(needs);
    return found;
}

static bool is_in_torch(PyObject *code)
{
    PyObject *file = PyObject_GetAttr(code, ml_str.co_filename);
    bool found = file && torch_folder && PyUnicode_Check(file) &&
                 PyUnicode_Tailmatch(file, torch_folder, 0, PY_SSIZE_T_MAX, -1) == 1;

    Py_XDECREF(file);
    return found;
}

/* The code of the innermost frame outside of PyTorch; NULL: none, or with an exception set. */
static PyObject *code_of_caller(void)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    PyObject *code = NULL;

    Py_XINCREF(frame);
    for (int i = 0; frame && frame != Py_None && i < FRAMES_MAX; i++) {
        PyObject *outer;

        code = PyObject_GetAttr(frame, ml_str.f_code);
        if (!code || code == last_code || !is_in_torch(code))
            break;
        Py_CLEAR(code);
        outer = PyObject_GetAttr(frame, ml_str.f_back);
        Py_DECREF(frame);
        frame = outer;
    }
    Py_XDECREF(frame);
    return code;
}

/* The script's name for code outside of all functions. */
static PyObject *script_name(PyObject *code)
{
    PyObject *file = PyObject_GetAttr(code, ml_str.co_filename);
    PyObject *name = file ? PyObject_CallMethod(file, "rpartition", "s", "/") : NULL;
    PyObject *last = name ? PySequence_GetItem(name, 2) : NULL;

    Py_XDECREF(file);
    Py_XDECREF(name);
    return last;
}

/* "Trainer.fit"; before Python 3.11 code objects have only the last part. */
static PyObject *function_name(PyObject *code)
{
    PyObject *name = PyObject_GetAttr(code, ml_str.co_qualname);

    if (!name) {
        ml_native_forget_error();
        name = PyObject_GetAttr(code, ml_str.co_name);
    }
    if (name && PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, "<module>")) {
        Py_DECREF(name);
        name = script_name(code);
    }
    return name;
}

static void name_code(PyObject *code)
{
    PyObject *name = function_name(code), *old = last_code;

    last_name = name && PyUnicode_Check(name) ? ml_native_name(name) : 0;
    Py_XDECREF(name);
    Py_INCREF(code);
    last_code = code;
    Py_XDECREF(old);
}

void ml_calling_function_enter(PyObject *result)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *code =
        recorder && recorder->in_session() && has_graph(result) ? code_of_caller() : NULL;

    if (code && code != last_code)
        name_code(code);
    if (code && last_name)
        recorder->enter_function(last_name);
    Py_XDECREF(code);
    ml_native_forget_error();
}

/* ---- From Python ----------------------------------------------------------------- */

static PyObject *set_torch_folder(PyObject *self, PyObject *folder)
{
    PyObject *old = torch_folder;

    (void)self;
    Py_INCREF(folder);
    torch_folder = folder;
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_torch_folder", set_torch_folder, METH_O, "Sets PyTorch's own folder, with a slash."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_calling_function(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
