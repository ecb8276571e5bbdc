/* scoped_call.c: a callable that stands in front of another and tells the recorder
 * that a thread is inside it, however the call ends.
 *
 * One stands in front of torch.nn.Module.__call__, so that it runs for every call
 * of every module; one in front of the step of each class of optimizers; one in
 * front of torch.autograd.backward. In C because of the first, and because code
 * that PyTorch compiles passes C functions by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"

#include <stdbool.h>
#include <structmember.h>

#include "module_table.h"
#include "recorder.h"
#include "steps.h"
#include "tensors.h"
#include "tracked.h"

enum kind { MODULE, OPTIMIZER, BACKWARD };

struct scoped_call {
    PyObject_HEAD PyObject *original;
    PyObject *attributes; /* __dict__ */
    PyObject *after;      /* called with the optimizer after its step */
    PyObject *weak_references;
    int kind;
};

/* Names a module and what is below it: namer(module). */
static PyObject *namer;

/* What this thread is in: the innermost module, and the outermost. */
static __thread struct ml_module_entry *innermost;
static __thread struct ml_module_entry *outermost;

/* ---- Names --------------------------------------------------------------------- */

static void name_tree(PyObject *root)
{
    PyObject *result = namer ? PyObject_CallFunctionObjArgs(namer, root, NULL) : NULL;

    Py_XDECREF(result);
    ml_native_forget_error();
}

/* A module that its outermost one does not know, or not yet. To look again each
 * time would cost programs that make modules as they go. */
static bool look_again(struct ml_module_entry *root)
{
    root->misses++;
    return !(root->misses & (root->misses - 1));
}

static PyObject *class_of(PyObject *module)
{
    PyObject *text = PyObject_GetAttrString((PyObject *)Py_TYPE(module), "__name__");

    if (!text || !PyUnicode_Check(text)) {
        ml_native_forget_error();
        Py_XDECREF(text);
        text = PyUnicode_FromString("Module");
    }
    return text;
}

/* By its class, below the module that called it. What PyTorch's compiler made of a
 * module is that module. */
static struct ml_module_entry *name_stray(PyObject *module)
{
    struct ml_module_entry *entry = NULL;
    PyObject *class = class_of(module);
    bool compiled = class && !PyUnicode_CompareWithASCIIString(class, "GraphModule");
    PyObject *text =
        class && innermost ? PyUnicode_FromFormat("%U.%U", innermost->text, class) : class;

    if (text)
        entry = ml_module_name(module, text, class);
    if (entry)
        entry->hidden = innermost && compiled;
    if (text != class)
        Py_XDECREF(text);
    Py_XDECREF(class);
    ml_native_forget_error();
    return entry;
}

static struct ml_module_entry *name_now(PyObject *module)
{
    struct ml_module_entry *entry = NULL;

    if (!outermost)
        name_tree(module);
    else if (look_again(outermost))
        name_tree(outermost->module);
    entry = ml_module_find(module);
    return entry ? entry : name_stray(module);
}

/* ---- Calls ---------------------------------------------------------------------- */

static void begin_outermost(const struct ml_module_entry *entry, PyObject *args, PyObject *kwargs)
{
    if (entry->copy)
        return;
    if (ml_steps_note_call())
        ml_tracked_check();
    ml_tensors_label_inputs(args, kwargs);
}

static PyObject *call_module(struct scoped_call *self, PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    struct ml_module_entry *outer = innermost;
    PyObject *module = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    struct ml_module_entry *entry;
    PyObject *result;

    if (!module || !recorder || !recorder->in_session())
        return PyObject_Call(self->original, args, kwargs);
    entry = ml_module_find(module);
    if (!entry)
        entry = name_now(module);
    if (PyErr_Occurred())
        return NULL;
    if (!entry || entry->hidden)
        return PyObject_Call(self->original, args, kwargs);
    if (recorder->is_outermost())
        begin_outermost(entry, args, kwargs);
    if (PyErr_Occurred())
        return NULL;
    innermost = entry;
    if (!outer)
        outermost = entry;
    recorder->enter_module(entry->name, entry->class_name);
    result = PyObject_Call(self->original, args, kwargs);
    recorder->leave_module();
    innermost = outer;
    if (!outer)
        outermost = NULL;
    return result;
}

static void tell_after(const struct scoped_call *self, PyObject *optimizer)
{
    PyObject *result =
        self->after ? PyObject_CallFunctionObjArgs(self->after, optimizer, NULL) : NULL;

    Py_XDECREF(result);
    ml_native_forget_error();
}

static uint32_t class_number(PyObject *object)
{
    PyObject *class = class_of(object);
    uint32_t number = class ? ml_native_name(class) : 0;

    Py_XDECREF(class);
    return number;
}

static PyObject *call_optimizer(struct scoped_call *self, PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *optimizer = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *result;

    if (!optimizer || !recorder || !recorder->in_session())
        return PyObject_Call(self->original, args, kwargs);
    recorder->enter_optimizer(class_number(optimizer));
    result = PyObject_Call(self->original, args, kwargs);
    recorder->leave_optimizer();
    if (result) {
        tell_after(self, optimizer);
        ml_steps_note_optimizer(optimizer);
    }
    if (result && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

static PyObject *call_backward(struct scoped_call *self, PyObject *args, PyObject *kwargs)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *result = PyObject_Call(self->original, args, kwargs);

    if (!recorder || !recorder->in_session())
        return result;
    if (result)
        ml_tracked_label_gradients();
    else
        recorder->settle();
    if (result && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

static PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct scoped_call *self = (struct scoped_call *)object;

    switch (self->kind) {
    case MODULE: return call_module(self, args, kwargs);
    case OPTIMIZER: return call_optimizer(self, args, kwargs);
    default: return call_backward(self, args, kwargs);
    }
}

/* ---- The type -------------------------------------------------------------------- */

/* A function found in a class becomes a method; so does this. */
static PyObject *bind(PyObject *self, PyObject *instance, PyObject *type)
{
    static PyObject *method_type;

    (void)type;
    if (!instance || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    if (!method_type) {
        PyObject *types = PyImport_ImportModule("types");
        method_type = types ? PyObject_GetAttrString(types, "MethodType") : NULL;
        Py_XDECREF(types);
    }
    return method_type ? PyObject_CallFunctionObjArgs(method_type, self, instance, NULL) : NULL;
}

/* Where it is pickled, as part of a class of the user's, the original is: copied
 * by copy.copy, which gives a function back as it is. */
static PyObject *reduce(PyObject *object, PyObject *args)
{
    struct scoped_call *self = (struct scoped_call *)object;
    PyObject *copy = PyImport_ImportModule("copy");
    PyObject *same = copy ? PyObject_GetAttrString(copy, "copy") : NULL;
    PyObject *result = same ? Py_BuildValue("(O(O))", same, self->original) : NULL;

    (void)args;
    Py_XDECREF(copy);
    Py_XDECREF(same);
    return result;
}

static PyObject *get_attributes(PyObject *object, void *closure)
{
    struct scoped_call *self = (struct scoped_call *)object;

    (void)closure;
    Py_INCREF(self->attributes);
    return self->attributes;
}

static int visit_parts(PyObject *object, visitproc visit, void *arg)
{
    struct scoped_call *self = (struct scoped_call *)object;

    Py_VISIT(self->original);
    Py_VISIT(self->attributes);
    Py_VISIT(self->after);
    return 0;
}

static int clear_parts(PyObject *object)
{
    struct scoped_call *self = (struct scoped_call *)object;

    Py_CLEAR(self->original);
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->after);
    return 0;
}

static void destroy(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    PyObject_ClearWeakRefs(object);
    clear_parts(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(struct scoped_call, original), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(struct scoped_call, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct scoped_call, weak_references), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__dict__", get_attributes, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef type_methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Only the functions below make one. */
static PyObject *refuse(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)args, (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "memledger's own: cannot be made from Python");
    return NULL;
}

static PyType_Slot slots[] = {
    {Py_tp_new, refuse},           {Py_tp_call, call},
    {Py_tp_descr_get, bind},       {Py_tp_dealloc, destroy},
    {Py_tp_traverse, visit_parts}, {Py_tp_clear, clear_parts},
    {Py_tp_members, members},      {Py_tp_getset, attributes},
    {Py_tp_methods, type_methods}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "memledger._native.ScopedCall",
    .basicsize = sizeof(struct scoped_call),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

static PyTypeObject *scoped_call_type;

/* Takes over what names a function, what others have put on it, and what PyTorch's
 * compiler and `inspect` want to see of it. */
static int copy_attributes(struct scoped_call *self)
{
    static const char *const names[] = {"__module__",   "__name__",       "__qualname__",
                                        "__doc__",      "__code__",       "__globals__",
                                        "__defaults__", "__kwdefaults__", "__closure__"};
    PyObject *theirs = PyObject_GetAttrString(self->original, "__dict__");

    self->attributes = PyDict_New();
    if (self->attributes && theirs && PyDict_Check(theirs))
        PyDict_Update(self->attributes, theirs);
    Py_XDECREF(theirs);
    for (size_t i = 0; self->attributes && i < sizeof(names) / sizeof(*names); i++) {
        PyObject *value = PyObject_GetAttrString(self->original, names[i]);
        if (value)
            PyDict_SetItemString(self->attributes, names[i], value);
        Py_XDECREF(value);
    }
    ml_native_forget_error();
    return self->attributes ? 0 : -1;
}

static PyObject *make(PyObject *args, enum kind kind)
{
    PyObject *original, *after = NULL;
    struct scoped_call *self;

    if (!PyArg_ParseTuple(args, "O|O", &original, &after))
        return NULL;
    self = (struct scoped_call *)PyType_GenericAlloc(scoped_call_type, 0);
    if (!self)
        return NULL;
    Py_INCREF(original);
    self->original = original;
    Py_XINCREF(after);
    self->after = after;
    self->kind = kind;
    if (copy_attributes(self)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* ---- From Python ----------------------------------------------------------------- */

static PyObject *scoped_module(PyObject *self, PyObject *args)
{
    (void)self;
    return make(args, MODULE);
}

static PyObject *scoped_optimizer(PyObject *self, PyObject *args)
{
    (void)self;
    return make(args, OPTIMIZER);
}

static PyObject *scoped_backward(PyObject *self, PyObject *args)
{
    (void)self;
    return make(args, BACKWARD);
}

static PyObject *set_namer(PyObject *self, PyObject *callable)
{
    (void)self;
    Py_INCREF(callable);
    Py_XDECREF(namer);
    namer = callable;
    Py_RETURN_NONE;
}

static PyObject *name_module(PyObject *self, PyObject *args)
{
    PyObject *module, *text, *class;

    (void)self;
    if (!PyArg_ParseTuple(args, "OUU", &module, &text, &class) ||
        !ml_module_name(module, text, class))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *hide_module(PyObject *self, PyObject *module)
{
    struct ml_module_entry *entry = ml_module_find(module);

    (void)self;
    if (entry)
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

static PyObject *name_copy(PyObject *self, PyObject *args)
{
    PyObject *copy, *module, *class;
    struct ml_module_entry *entry;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &copy, &module))
        return NULL;
    entry = ml_module_find(module);
    class = entry ? class_of(module) : NULL;
    entry = class ? ml_module_name(copy, entry->text, class) : NULL;
    Py_XDECREF(class);
    if (entry)
        entry->copy = true;
    ml_native_forget_error();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"scoped_module", scoped_module, METH_VARARGS, "To stand for torch.nn.Module.__call__."},
    {"scoped_optimizer", scoped_optimizer, METH_VARARGS,
     "To stand for an optimizer's step; the second argument is called after each."},
    {"scoped_backward", scoped_backward, METH_VARARGS, "To stand for torch.autograd.backward."},
    {"set_namer", set_namer, METH_O, "Sets what names a module and those below it."},
    {"name_module", name_module, METH_VARARGS, "name_module(module, name, class)"},
    {"hide_module", hide_module, METH_O, "Its calls are passed on without a scope."},
    {"module_name", module_name, METH_O, "The module's name, or None."},
    {"name_copy", name_copy, METH_VARARGS, "name_copy(copy, module): gives a copy its name."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_scoped_call(PyObject *module)
{
    scoped_call_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!scoped_call_type)
        return -1;
    Py_INCREF(scoped_call_type);
    if (PyModule_AddObject(module, "ScopedCall", (PyObject *)scoped_call_type)) {
        Py_DECREF(scoped_call_type);
        return -1;
    }
    return PyModule_AddFunctions(module, methods);
}
