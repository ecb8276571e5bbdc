/* tensors.c: see tensors.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tensors.h"

#include <stdio.h>
#include <string.h>

#include "memledger/memledger.h"
#include "recorder.h"
#include "interned.h"

/* torch.Tensor and torch.nn.Parameter, once PyTorch is imported. */
static PyObject *tensor_class, *parameter_class;

bool ml_tensor_is_plain(PyObject *object)
{
    return (PyObject *)Py_TYPE(object) == tensor_class;
}

bool ml_tensor_has_fields(PyObject *object)
{
    return ml_tensor_is_plain(object) || (PyObject *)Py_TYPE(object) == parameter_class;
}

/* The tensor that a tensor without memory of its own stands for. A new reference; NULL: none. */
static PyObject *inner_of(PyObject *tensor, PyObject *attribute)
{
    PyObject *inner = NULL;

    if (!ml_tensor_has_fields(tensor)) {
        inner = PyObject_GetAttr(tensor, attribute);
        ml_native_forget_error();
    }
    return inner;
}

/* The tensor that has the memory: the part of a DTensor that this rank has, which may be the
 * result of a collective that still runs (AsyncCollectiveTensor). A new reference. */
static PyObject *holder_of(PyObject *tensor)
{
    PyObject *local = inner_of(tensor, ml_str._local_tensor);
    PyObject *result = inner_of(local ? local : tensor, ml_str.elem);

    if (result) {
        Py_XDECREF(local);
        return result;
    }
    if (!local)
        Py_INCREF(tensor);
    return local ? local : tensor;
}

/* -1 with an exception set. */
static long long ask_number(PyObject *tensor, PyObject *method)
{
    PyObject *result = PyObject_CallMethodObjArgs(tensor, method, NULL);
    long long number = result ? PyLong_AsLongLong(result) : -1;

    Py_XDECREF(result);
    return number;
}

/* The CUDA device, or -1 for the host. */
static int device_of(PyObject *tensor)
{
    PyObject *is_cuda = PyObject_GetAttr(tensor, ml_str.is_cuda);
    bool cuda = is_cuda == Py_True;

    Py_XDECREF(is_cuda);
    return cuda ? (int)ask_number(tensor, ml_str.get_device) : -1;
}

uintptr_t ml_tensor_data(PyObject *tensor)
{
    PyObject *holder = holder_of(tensor);
    long long data = PyErr_Occurred() ? 0 : ask_number(holder, ml_str.data_ptr);

    Py_DECREF(holder);
    if (PyErr_Occurred()) {
        ml_native_forget_error();
        return 0;
    }
    return (uintptr_t)data;
}

static struct ml_tensor_block block_of(PyObject *tensor)
{
    struct ml_tensor_block block = {.cuda_device = device_of(tensor), .begins = true};
    long long offset = 0;

    if (!PyErr_Occurred())
        block.address = (uintptr_t)ask_number(tensor, ml_str.data_ptr);
    if (!PyErr_Occurred())
        offset = ask_number(tensor, ml_str.storage_offset);
    if (offset > 0) {
        block.begins = false;
        block.address -= (uintptr_t)(offset * ask_number(tensor, ml_str.element_size));
    }
    if (PyErr_Occurred()) {
        ml_native_forget_error();
        block.address = 0;
    }
    return block;
}

struct ml_tensor_block ml_tensor_block(PyObject *tensor)
{
    PyObject *holder = holder_of(tensor);
    struct ml_tensor_block block = block_of(holder);

    Py_DECREF(holder);
    return block;
}

void ml_block_label(const struct ml_tensor_block *block, uint32_t name, int category)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    if (recorder && block->address)
        recorder->label(block->cuda_device, (const void *)block->address, name, category);
}

void ml_tensor_label(PyObject *tensor, uint32_t name, int category)
{
    struct ml_tensor_block block = ml_tensor_block(tensor);

    ml_block_label(&block, name, category);
}

/* ---- Inputs -------------------------------------------------------------------- */

#define MOST_INPUTS 64  /* of a list or a dictionary */
#define DEEPEST_INPUT 3 /* in lists, dictionaries and batches */

static void label_input(PyObject *object, const char *name, int depth);

static void label_sequence(PyObject *sequence, const char *name, int depth)
{
    Py_ssize_t n = PySequence_Size(sequence);
    char inner[128];

    for (Py_ssize_t i = 0; i < n && i < MOST_INPUTS; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        snprintf(inner, sizeof(inner), "%s.%zd", name, i);
        if (item)
            label_input(item, inner, depth);
        Py_XDECREF(item);
    }
}

static const char *text_of(PyObject *key, char *buf, size_t room)
{
    PyObject *encoded = PyUnicode_Check(key) ? PyUnicode_AsUTF8String(key) : NULL;

    snprintf(buf, room, "%s", encoded ? PyBytes_AsString(encoded) : "input");
    Py_XDECREF(encoded);
    return buf;
}

/* Works on a copy: other threads may change the dict meanwhile. */
static void label_dict(PyObject *dict, int depth)
{
    PyObject *copy = PyDict_Copy(dict);
    PyObject *key, *value;
    Py_ssize_t position = 0;
    char name[128];

    for (int i = 0; copy && i < MOST_INPUTS && PyDict_Next(copy, &position, &key, &value); i++) {
        label_input(value, text_of(key, name, sizeof(name)), depth);
    }
    Py_XDECREF(copy);
}

/* Whether instances of the class are batches, as of torch-geometric or of a program's own: they can
 * be moved to a device, or are dataclasses. A subclass of dict is what a model returned. */
static bool is_batch_class(PyTypeObject *type)
{
    static const char *const signs[] = {"to", "__dataclass_fields__"};

    if (PyType_IsSubtype(type, &PyDict_Type) || PyType_IsSubtype(type, &PyType_Type) ||
        PyType_IsSubtype(type, (PyTypeObject *)tensor_class))
        return false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (PyObject_HasAttrString((PyObject *)type, signs[i]))
            return true;
    return false;
}

/* A module is no batch. What its attributes run is the program's own code: errors are dropped. */
static void label_object(PyObject *object, int depth)
{
    PyObject *dict =
        is_batch_class(Py_TYPE(object)) ? PyObject_GetAttrString(object, "__dict__") : NULL;

    if (dict && PyDict_CheckExact(dict) && !PyDict_GetItemString(dict, "_parameters"))
        label_dict(dict, depth);
    Py_XDECREF(dict);
    ml_native_forget_error();
}

static void label_input(PyObject *object, const char *name, int depth)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    if (ml_tensor_is_plain(object))
        ml_tensor_label(object, recorder->name(name, strlen(name)), MEMLEDGER_INPUT);
    else if (depth == DEEPEST_INPUT)
        return;
    else if (PyTuple_Check(object) || PyList_CheckExact(object))
        label_sequence(object, name, depth + 1);
    else if (PyDict_CheckExact(object))
        label_dict(object, depth + 1);
    else
        label_object(object, depth + 1);
}

void ml_tensors_label_inputs(PyObject *args, PyObject *kwargs)
{
    PyObject *key, *value;
    Py_ssize_t position = 0;
    char name[128];

    if (!tensor_class || !ml_native_recorder())
        return;
    for (Py_ssize_t i = 1; i < PyTuple_Size(args); i++) {
        snprintf(name, sizeof(name), "input.%zd", i - 1);
        label_input(PyTuple_GetItem(args, i), name, 0);
    }
    while (kwargs && PyDict_Next(kwargs, &position, &key, &value))
        label_input(value, text_of(key, name, sizeof(name)), 0);
    ml_native_forget_error();
}

/* ---- From Python --------------------------------------------------------------- */

static PyObject *label(PyObject *self, PyObject *args)
{
    const struct ml_extension_api *recorder = ml_native_recorder();
    PyObject *tensor;
    const char *name;
    int category;

    (void)self;
    if (!PyArg_ParseTuple(args, "Osi", &tensor, &name, &category))
        return NULL;
    if (recorder)
        ml_tensor_label(tensor, recorder->name(name, strlen(name)), category);
    Py_RETURN_NONE;
}

/* Keeps a class for good. */
static void keep_class(PyObject **kept, PyObject *found)
{
    Py_INCREF(found);
    Py_XDECREF(*kept);
    *kept = found;
}

static PyObject *set_tensor_classes(PyObject *self, PyObject *args)
{
    PyObject *tensor, *parameter;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &tensor, &parameter))
        return NULL;
    keep_class(&tensor_class, tensor);
    keep_class(&parameter_class, parameter);
    Py_RETURN_NONE;
}

/* label_block(cuda_device, address, name, category), where -1 is the host. */
static PyObject *label_block(PyObject *self, PyObject *args)
{
    struct ml_tensor_block block = {0};
    unsigned long long address;
    PyObject *text;
    int category;

    (void)self;
    if (!PyArg_ParseTuple(args, "iKUi", &block.cuda_device, &address, &text, &category))
        return NULL;
    block.address = (uintptr_t)address;
    ml_block_label(&block, ml_native_name(text), category);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"label", label, METH_VARARGS, "label(tensor, name, category): names the tensor's block."},
    {"label_block", label_block, METH_VARARGS,
     "label_block(CUDA device or -1, address, name, category): names a block."},
    {"set_tensor_classes", set_tensor_classes, METH_VARARGS,
     "Sets the classes torch.Tensor and torch.nn.Parameter."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_tensors(PyObject *module)
{
    static const struct {
        const char *name;
        int value;
    } categories[] = {
        {"PARAMETER", MEMLEDGER_PARAMETER},
        {"BUFFER", MEMLEDGER_BUFFER},
        {"GRADIENT", MEMLEDGER_GRADIENT},
        {"OPTIMIZER_STATE", MEMLEDGER_OPTIMIZER_STATE},
        {"INPUT", MEMLEDGER_INPUT},
        {"OTHER", MEMLEDGER_OTHER},
        {"KV_CACHE", MEMLEDGER_KV_CACHE},
        {"GATHERED", MEMLEDGER_GATHERED},
        {"COMMUNICATION", MEMLEDGER_COMMUNICATION},
    };

    for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
        if (PyModule_AddIntConstant(module, categories[i].name, categories[i].value))
            return -1;
    }
    return PyModule_AddFunctions(module, methods);
}
