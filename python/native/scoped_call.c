/* scoped_call.c: see scoped_call.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scoped_call.h"

#include <structmember.h>

PyObject *ml_class_name(PyObject *object)
{
    PyObject *text = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");

    if (!text || !PyUnicode_Check(text)) {
        ml_native_forget_error();
        Py_XDECREF(text);
        text = PyUnicode_FromString("Module");
    }
    return text;
}

void ml_scoped_call_tell(PyObject *listener, PyObject *object, PyObject *more, PyObject *most)
{
    PyObject *result = listener ? PyObject_CallFunctionObjArgs(listener, object, more, most, NULL)
                                : NULL; /* the first NULL ends the arguments */

    Py_XDECREF(result);
    ml_native_forget_error();
}

static PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct ml_scoped_call *self = (struct ml_scoped_call *)object;
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *first = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    if (!recorder || !recorder->in_session())
        return PyObject_Call(self->original, args, kwargs);
    return self->call(self, first, args, kwargs);
}

/* ---- The type -------------------------------------------------------------------- */

/* Binds like a function in a class, which becomes a method. */
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

/* Pickles as the original when it is part of a user's class: through copy.copy, which returns a
 * function unchanged. */
static PyObject *reduce(PyObject *object, PyObject *args)
{
    struct ml_scoped_call *self = (struct ml_scoped_call *)object;
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
    struct ml_scoped_call *self = (struct ml_scoped_call *)object;

    (void)closure;
    Py_INCREF(self->attributes);
    return self->attributes;
}

static int visit_parts(PyObject *object, visitproc visit, void *arg)
{
    struct ml_scoped_call *self = (struct ml_scoped_call *)object;

    Py_VISIT(self->original);
    Py_VISIT(self->attributes);
    Py_VISIT(self->namer);
    Py_VISIT(self->before);
    Py_VISIT(self->after);
    return 0;
}

static int clear_parts(PyObject *object)
{
    struct ml_scoped_call *self = (struct ml_scoped_call *)object;

    Py_CLEAR(self->original);
    Py_CLEAR(self->attributes);
    Py_CLEAR(self->namer);
    Py_CLEAR(self->before);
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
    {"__wrapped__", T_OBJECT_EX, offsetof(struct ml_scoped_call, original), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(struct ml_scoped_call, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct ml_scoped_call, weak_references), READONLY,
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

/* Only ml_scoped_call_make creates instances. */
static PyObject *refuse(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)args, (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "internal to memledger: cannot be created from Python");
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
    .basicsize = sizeof(struct ml_scoped_call),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

static PyTypeObject *scoped_call_type;

/* Copies the function's name and attributes, and those that PyTorch's compiler and `inspect`
 * need. */
static int copy_attributes(struct ml_scoped_call *self)
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

/* The argument, if it is given and not None. */
static PyObject *keep(PyObject *argument)
{
    if (argument == Py_None)
        argument = NULL;
    Py_XINCREF(argument);
    return argument;
}

PyObject *ml_scoped_call_around(PyObject *original, int number, ml_scoped_function *function)
{
    struct ml_scoped_call *self = (struct ml_scoped_call *)PyType_GenericAlloc(scoped_call_type, 0);

    if (!self)
        return NULL;
    self->original = keep(original);
    self->number = number;
    self->call = function;
    if (copy_attributes(self)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

PyObject *ml_scoped_call_make(PyObject *args, PyObject *kwargs, ml_scoped_function *function)
{
    static char *keywords[] = {"original", "namer", "before", "after", "number", NULL};
    PyObject *original, *namer = NULL, *before = NULL, *after = NULL;
    struct ml_scoped_call *self;
    int number = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOi", keywords, &original, &namer, &before,
                                     &after, &number))
        return NULL;
    self = (struct ml_scoped_call *)ml_scoped_call_around(original, number, function);
    if (!self)
        return NULL;
    self->namer = keep(namer);
    self->before = keep(before);
    self->after = keep(after);
    return (PyObject *)self;
}

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
    return 0;
}
