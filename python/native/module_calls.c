/* module_calls.c: calls of PyTorch's modules and MXNet's blocks as scopes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "event.h"
#include "interned.h"
#include "model_threads.h"
#include "module_calls.h"
#include "module_table.h"
#include "new_modules.h"
#include "scoped_call.h"
#include "step_bounds.h"
#include "tensors.h"
#include "tracked.h"

/* The innermost and the outermost module that this thread is in. Both are held. */
static __thread struct ml_module_entry *innermost;
static __thread struct ml_module_entry *outermost;

PyObject *ml_module_calls_innermost(void)
{
    bool is_stale = ml_native_recorder()->is_outermost(); /* see forget_calls */

    return innermost && innermost->root && !is_stale ? innermost->text : NULL;
}

/* ---- Names --------------------------------------------------------------------- */

/* A module that its outermost one does not contain, or not yet. Checking each time would be
 * expensive for programs that create modules as they run. */
static bool look_again(struct ml_module_entry *root)
{
    root->misses++;
    return !(root->misses & (root->misses - 1));
}

/* Names a module by its class, below its caller. A module that PyTorch's compiler produced
 * counts as the original. */
static struct ml_module_entry *name_stray(PyObject *module)
{
    struct ml_module_entry *entry = NULL;
    PyObject *class_name = ml_class_name(module);
    bool compiled = class_name && !PyUnicode_CompareWithASCIIString(class_name, "GraphModule");
    PyObject *text = class_name && innermost
                         ? PyUnicode_FromFormat("%U.%U", innermost->text, class_name)
                         : class_name;

    if (text)
        entry = ml_module_name(module, text, class_name);
    if (entry)
        entry->hidden = innermost && compiled;
    if (text != class_name)
        Py_XDECREF(text);
    Py_XDECREF(class_name);
    ml_native_forget_error();
    return entry;
}

static void name_below(const struct ml_scoped_call *self, const struct ml_module_entry *root)
{
    PyObject *module = ml_module_of(root);

    if (module)
        ml_scoped_call_tell(self->namer, module, NULL, NULL);
    Py_XDECREF(module);
}

/* The namer names a module and its descendants: namer(module). NULL: it cannot be named, or an
 * interrupt has arrived meanwhile. */
static struct ml_module_entry *name_now(const struct ml_scoped_call *self, PyObject *module)
{
    struct ml_module_entry *entry = NULL;

    if (!outermost)
        ml_scoped_call_tell(self->namer, module, NULL, NULL);
    else if (look_again(outermost))
        name_below(self, outermost);
    if (PyErr_Occurred())
        return NULL;
    entry = ml_module_find(module);
    return entry ? entry : name_stray(module);
}

/* ---- Calls ---------------------------------------------------------------------- */

static bool note_step(const struct ml_scoped_call *self, struct ml_module_entry *entry)
{
    struct ml_module_entry *root = ml_module_hold(ml_module_root(entry));
    PyObject *module = self->before ? NULL : ml_module_of(root);
    bool is_first = ml_steps_note_call(module, &root->history);

    root->shared |= root->thread && root->thread != ml_model_thread();
    root->thread = ml_model_thread();
    Py_XDECREF(module);
    ml_module_release(root);
    return is_first;
}

/* For MXNet's blocks, before(args, kwargs) labels the inputs. */
static void begin_outermost(const struct ml_scoped_call *self, struct ml_module_entry *entry,
                            PyObject *args, PyObject *kwargs)
{
    bool is_first;

    if (entry->copy)
        return;
    is_first = note_step(self, entry);
    if (self->before) {
        ml_scoped_call_tell(self->before, args, kwargs ? kwargs : Py_None, NULL);
        return;
    }
    if (is_first)
        ml_tracked_check();
    ml_tensors_label_inputs(args, kwargs);
}

/* @entry  held for *held */
static void replace(struct ml_module_entry **held, struct ml_module_entry *entry)
{
    struct ml_module_entry *old = *held;

    *held = entry;
    ml_module_release(old);
}

static PyObject *call_inside(const struct ml_scoped_call *self, struct ml_module_entry *entry,
                             PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_module_entry *outer = innermost;
    PyObject *result;

    innermost = ml_module_hold(entry);
    recorder->enter_module(entry->name, entry->class_name);
    result = PyObject_Call(self->original, args, kwargs);
    recorder->leave_module();
    replace(&innermost, outer);
    return result;
}

/* A model's methods may call its layers without calling the model: it is around them all the
 * same. */
static PyObject *call_outermost(const struct ml_scoped_call *self, struct ml_module_entry *entry,
                                PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_module_entry *root = ml_module_root(entry);
    bool is_below = root->name != entry->name && !root->hidden && recorder->is_outermost();
    PyObject *result;

    replace(&outermost, ml_module_hold(root));
    if (is_below)
        recorder->enter_module(root->name, root->class_name);
    result = call_inside(self, entry, args, kwargs);
    if (is_below)
        recorder->leave_module();
    replace(&outermost, NULL);
    return result;
}

/* Greenlets take turns on one thread: calls may end in a different order than they began, and
 * leave a stale state behind. */
static void forget_calls(void)
{
    replace(&innermost, NULL);
    replace(&outermost, NULL);
}

/* A block's call and the nested calls of its base classes count as one, and so do those of a
 * wrapper, such as a compiled module, and of the module that it wraps. */
static bool goes_on(const struct ml_scoped_call *self, const struct ml_module_entry *entry)
{
    if (!innermost)
        return false;
    return (self->before && entry == innermost) ||
           (innermost->wrapper && entry->name == innermost->name);
}

static PyObject *run_module(struct ml_scoped_call *self, PyObject *module, PyObject *args,
                            PyObject *kwargs)
{
    bool is_outermost = ml_native_recorder()->is_outermost();
    struct ml_module_entry *entry;
    PyObject *result;

    if (is_outermost) {
        forget_calls();
        ml_new_modules_name();
    }
    if (PyErr_Occurred())
        return NULL;
    entry = module ? ml_module_find(module) : NULL;
    if (module && !entry)
        entry = name_now(self, module);
    if (PyErr_Occurred())
        return NULL;
    if (!entry || entry->hidden || goes_on(self, entry))
        return PyObject_Call(self->original, args, kwargs);
    if (is_outermost)
        begin_outermost(self, entry, args, kwargs);
    if (PyErr_Occurred())
        return NULL;
    result = innermost ? call_inside(self, entry, args, kwargs)
                       : call_outermost(self, entry, args, kwargs);
    if (result && is_outermost)
        ml_scoped_call_tell(self->after, args, kwargs ? kwargs : Py_None, result);
    if (result && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

static PyObject *call_module(struct ml_scoped_call *self, PyObject *module, PyObject *args,
                             PyObject *kwargs)
{
    PyObject *result = run_module(self, module, args, kwargs);

    if (result && !self->before)
        ml_native_recorder()->note_function();
    return result;
}

/* Lightning's trainer calls a module's training_step and the like instead of the module. */
static PyObject *call_lightning(struct ml_scoped_call *self, PyObject *strategy, PyObject *args,
                                PyObject *kwargs)
{
    PyObject *module = strategy ? PyObject_GetAttr(strategy, ml_str.lightning_module) : NULL;
    PyObject *result;

    if (ml_native_forget_error()) {
        Py_XDECREF(module);
        return NULL;
    }
    result = run_module(self, module, args, kwargs);
    Py_XDECREF(module);
    return result;
}

/* ---- From Python ----------------------------------------------------------------- */

static PyObject *scoped_module(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_module);
}

static PyObject *scoped_lightning(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return ml_scoped_call_make(args, kwargs, call_lightning);
}

static PyObject *name_module(PyObject *self, PyObject *args)
{
    PyObject *module, *text, *class_name, *root = NULL;
    struct ml_module_entry *entry;

    (void)self;
    if (!PyArg_ParseTuple(args, "OUU|O", &module, &text, &class_name, &root))
        return NULL;
    entry = ml_module_name(module, text, class_name);
    if (!entry || (root && ml_module_set_root(entry, root)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *module_at(PyObject *self, PyObject *address)
{
    size_t number = PyLong_AsSize_t(address);
    struct ml_module_entry *entry = PyErr_Occurred() ? NULL : ml_module_find((PyObject *)number);
    PyObject *module = entry ? ml_module_of(entry) : NULL;

    (void)self;
    if (module || PyErr_Occurred())
        return module;
    Py_RETURN_NONE;
}

static PyObject *mark_wrapper(PyObject *self, PyObject *module)
{
    struct ml_module_entry *entry = ml_module_find(module);

    (void)self;
    if (entry)
        entry->wrapper = true;
    Py_RETURN_NONE;
}

/* Its class is its name, which no scope shows. */
static PyObject *hide_module(PyObject *self, PyObject *module)
{
    PyObject *class_name = ml_class_name(module);
    struct ml_module_entry *entry =
        class_name ? ml_module_name(module, class_name, class_name) : NULL;

    (void)self;
    Py_XDECREF(class_name);
    if (!entry)
        return NULL;
    entry->hidden = true;
    Py_RETURN_NONE;
}

static PyObject *module_name(PyObject *self, PyObject *module)
{
    struct ml_module_entry *entry = ml_module_find(module);
    PyObject *text = entry ? entry->text : Py_None;

    (void)self;
    Py_INCREF(text);
    return text;
}

static PyObject *module_root(PyObject *self, PyObject *module)
{
    struct ml_module_entry *entry = ml_module_find(module);
    PyObject *root = entry ? ml_module_of(ml_module_root(entry)) : NULL;

    (void)self;
    if (root)
        return root;
    Py_RETURN_NONE;
}

static PyObject *innermost_module(PyObject *self, PyObject *args)
{
    PyObject *module = innermost ? ml_module_of(innermost) : NULL;

    (void)self, (void)args;
    if (module)
        return module;
    Py_RETURN_NONE;
}

static PyObject *is_outermost(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    (void)self, (void)args;
    return PyBool_FromLong(recorder && recorder->in_session() && recorder->is_outermost());
}

static PyObject *define_module(PyObject *self, PyObject *module)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_module_entry *entry = ml_module_find(module);
    struct ml_module_entry *root = entry ? ml_module_root(entry) : NULL;

    (void)self;
    if (!recorder || !recorder->in_session() || !root)
        Py_RETURN_TRUE;
    if (!recorder->is_outermost())
        Py_RETURN_FALSE;
    recorder->define_module(root->name, root->class_name, entry->name, entry->class_name);
    Py_RETURN_TRUE;
}

static PyObject *define_outermost(PyObject *self, PyObject *text)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    uint32_t name = PyUnicode_Check(text) ? ml_native_name(text) : 0;

    (void)self;
    if (recorder && recorder->in_session() && name)
        recorder->define_module(name, 0, name, 0);
    Py_RETURN_NONE;
}

static PyObject *name_copy(PyObject *self, PyObject *args)
{
    PyObject *copy, *module, *text, *class_name;
    struct ml_module_entry *entry;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &copy, &module))
        return NULL;
    entry = ml_module_find(module);
    text = entry ? entry->text : NULL;
    Py_XINCREF(text); /* naming may run Python code, which may name the module anew */
    class_name = text ? ml_class_name(module) : NULL;
    entry = class_name ? ml_module_name(copy, text, class_name) : NULL;
    Py_XDECREF(class_name);
    Py_XDECREF(text);
    if (entry)
        entry->copy = true;
    ml_native_forget_error();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"scoped_module", (PyCFunction)(void (*)(void))scoped_module, METH_VARARGS | METH_KEYWORDS,
     "scoped_module(original, namer, before, after): wraps a module's call."},
    {"scoped_lightning", (PyCFunction)(void (*)(void))scoped_lightning,
     METH_VARARGS | METH_KEYWORDS,
     "scoped_lightning(original, namer): wraps a step of a Lightning strategy."},
    {"name_module", name_module, METH_VARARGS,
     "name_module(module, name, class, outermost module)"},
    {"mark_wrapper", mark_wrapper, METH_O,
     "Count the call of the module that it wraps as its own."},
    {"hide_module", hide_module, METH_O, "Its calls are no scopes."},
    {"module_at", module_at, METH_O, "The named module with that id(), or None."},
    {"module_root", module_root, METH_O, "The outermost module of a named one, or None."},
    {"innermost_module", innermost_module, METH_NOARGS,
     "The named module that this thread is in, or None."},
    {"is_outermost", is_outermost, METH_NOARGS,
     "Whether this thread is recorded, and in no module, optimizer or node of backward."},
    {"define_module", define_module, METH_O,
     "Records a named module without a call. False: not while another is called."},
    {"define_outermost", define_outermost, METH_O, "Records a name as if it were a module's."},
    {"module_name", module_name, METH_O, "The module's name, or None."},
    {"name_copy", name_copy, METH_VARARGS, "name_copy(copy, module): gives a copy its name."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_module_calls(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "MODULE_NUMBER_MARK", ML_MODULE_NUMBER_MARK) ||
        PyModule_AddStringConstant(module, "LOADING_MODULE", ML_LOADING_MODULE) ||
        PyModule_AddStringConstant(module, "UNUSED_MODULE", ML_UNUSED_MODULE))
        return -1;
    return PyModule_AddFunctions(module, methods);
}
