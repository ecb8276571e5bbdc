/* tracked.c: see tracked.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tracked.h"

#include "interned.h"
#include "memledger/memledger.h"
#include "model_threads.h"
#include "module_table.h"
#include "recorder.h"
#include "shared_gradients.h"
#include "tensors.h"
#include "tracked_list.h"

/* Whether another tensor names the block, as a flat parameter of FSDP does. One whose memory was
 * freed does not: something else may be there now. */
static bool is_part(const struct ml_tracked *t, const struct ml_tensor_block *block)
{
    struct ml_tracked *whole = NULL;
    bool found = false;

    while (!t->whole && !found && (whole = ml_tracked_whole(block->address, whole))) {
        PyObject *tensor = ml_tracked_tensor(whole);
        found = tensor && ml_tensor_data(tensor) == block->address;
        Py_XDECREF(tensor);
    }
    return found;
}

/* Whether it is known to be where it was when it was last labelled. Sets *ret to where it is. */
static bool has_stayed(const struct ml_tracked *t, PyObject *tensor, struct ml_tensor_fields *ret)
{
    *ret = (struct ml_tensor_fields){0};
    return ml_tensor_has_fields(tensor) && ml_tensor_fields(tensor, ret) && t->data &&
           ret->storage == t->fields.storage && ret->offset == t->fields.offset;
}

/* Labels the tensor if it moved. Several may share a block, as weights do that cuDNN wants in one
 * piece: the one that begins it gives the block its name. */
static void check(struct ml_tracked *t, PyObject *tensor)
{
    struct ml_tensor_fields fields;
    struct ml_tensor_block block;
    uintptr_t data;

    if (has_stayed(t, tensor, &fields))
        return;
    data = ml_tensor_data(tensor);
    t->fields = fields;
    if (data == t->data)
        return;
    ml_tracked_move(t, data);
    block = ml_tensor_block(tensor);
    t->cuda_device = block.cuda_device;
    t->gradient_begins = false;
    if (is_part(t, &block))
        return;
    if (block.begins || !ml_tracked_has_data(block.address))
        ml_block_label(&block, t->name, t->category);
}

void ml_tracked_check(void)
{
    struct ml_tracked *t;

    ml_tracked_forget_the_dead();
    ml_tracked_list_use();
    for (size_t i = 0; (t = ml_tracked_at(i)); i++) {
        PyObject *tensor = ml_tracked_tensor(t);
        if (tensor)
            check(t, tensor);
        Py_XDECREF(tensor);
    }
    ml_tracked_list_end_use();
}

/* Asks PyTorch as little as possible, because it runs for every parameter in every step. Assumes
 * that a gradient keeps its position in its block, and checks that now and then. */
static struct ml_tensor_block ask_block(struct ml_tracked *t, PyObject *gradient, bool look)
{
    struct ml_tensor_block block = {.cuda_device = t->cuda_device, .begins = true};

    if (t->gradient_begins && !look) {
        block.address = ml_tensor_data(gradient);
        return block;
    }
    block = ml_tensor_block(gradient);
    t->gradient_begins = block.begins;
    return block;
}

static struct ml_tensor_block ask_gradient(struct ml_tracked *t, PyObject *tensor, bool look)
{
    PyObject *gradient = PyObject_GetAttr(tensor, ml_str.grad);
    struct ml_tensor_block block = {0};

    if (gradient && gradient != Py_None)
        block = ask_block(t, gradient, look);
    Py_XDECREF(gradient);
    ml_native_forget_error();
    return block;
}

/* The block of the tensor's gradient; none: it has no gradient. PyTorch is asked if several threads
 * train: another one may replace the gradient, and PyTorch's answer holds a reference. */
static struct ml_tensor_block gradient_block(struct ml_tracked *t, PyObject *tensor, bool look)
{
    struct ml_tensor_fields found;
    bool ask = look || ml_model_threads_are_several() || !ml_tensor_has_fields(tensor);
    enum ml_gradient gradient = ask ? ML_GRADIENT_UNKNOWN : ml_tensor_gradient(tensor, &found);

    if (gradient == ML_GRADIENT_UNKNOWN)
        return ask_gradient(t, tensor, look);
    if (gradient == ML_GRADIENT_NONE)
        return (struct ml_tensor_block){0};
    return (struct ml_tensor_block){
        .address = found.storage, .cuda_device = t->cuda_device, .begins = !found.offset};
}

/* Asked before each gradient: another thread may begin to train meanwhile. */
static bool may_look_at(const struct ml_tracked *t)
{
    const struct ml_module_entry *model;

    if (t->category != MEMLEDGER_PARAMETER || !ml_model_threads_are_several())
        return t->category == MEMLEDGER_PARAMETER;
    model = t->model ? ml_module_find((PyObject *)t->model) : NULL; /* only compares the address */
    return model && !model->shared && model->thread == ml_model_thread();
}

/* Gradients in the same block follow one another. */
void ml_tracked_label_gradients(void)
{
    static unsigned passes;
    bool look = !(passes & (passes + 1));
    struct ml_shared_gradients shared = {0};
    struct ml_tracked *t;

    passes++;
    ml_tracked_list_use();
    for (size_t i = 0; (t = ml_tracked_at(i)); i++) {
        PyObject *tensor = may_look_at(t) ? ml_tracked_tensor(t) : NULL;
        struct ml_tensor_block block = {0};

        if (tensor)
            block = gradient_block(t, tensor, look);
        if (block.begins)
            ml_block_label(&block, t->name, MEMLEDGER_GRADIENT);
        ml_shared_gradients_add(&shared, t, &block);
        Py_XDECREF(tensor);
    }
    ml_shared_gradients_label(&shared);
    ml_tracked_list_end_use();
}

static PyObject *track(PyObject *self, PyObject *args)
{
    PyObject *tensor, *text, *model = Py_None;
    int category, whole = 0;
    struct ml_tracked *t;

    (void)self;
    if (!PyArg_ParseTuple(args, "OUi|pO", &tensor, &text, &category, &whole, &model))
        return NULL;
    t = ml_tracked_find(tensor);
    if (!t)
        t = ml_tracked_add(tensor);
    if (!t)
        return NULL;
    Py_INCREF(text);
    Py_XDECREF(t->text);
    t->text = text;
    t->name = ml_native_name(text);
    t->category = category;
    t->whole = whole;
    t->model = model == Py_None ? 0 : (uintptr_t)model;
    ml_tracked_move(t, 0);
    ml_tracked_list_use();
    check(t, tensor);
    ml_tracked_list_end_use();
    Py_RETURN_NONE;
}

/* What `track` needs after the tensor, to track it again. */
static PyObject *untrack(PyObject *self, PyObject *tensor)
{
    struct ml_tracked *t = ml_tracked_find(tensor);
    PyObject *kept;

    (void)self;
    if (!t)
        Py_RETURN_NONE;
    kept = Py_BuildValue("(Oii)", t->text, t->category, (int)t->whole);
    if (kept)
        ml_tracked_drop(t);
    return kept;
}

/* A tensor that shares the memory of a tracked one has that one's name already. */
static PyObject *label_loaded(PyObject *self, PyObject *args)
{
    PyObject *tensor, *text;
    struct ml_tensor_block block;
    int category;

    (void)self;
    if (!PyArg_ParseTuple(args, "OUi", &tensor, &text, &category))
        return NULL;
    block = ml_tensor_block(tensor);
    if (block.address && !ml_tracked_has_data(ml_tensor_data(tensor)) &&
        !ml_tracked_has_data(block.address))
        ml_block_label(&block, ml_native_name(text), category);
    Py_RETURN_NONE;
}

static PyObject *tracked_name(PyObject *self, PyObject *tensor)
{
    const struct ml_tracked *t = ml_tracked_find(tensor);

    (void)self;
    if (!t)
        Py_RETURN_NONE;
    Py_INCREF(t->text);
    return t->text;
}

static PyObject *tracked_model(PyObject *self, PyObject *tensor)
{
    const struct ml_tracked *t = ml_tracked_find(tensor);

    (void)self;
    return PyLong_FromSize_t(t ? t->model : 0);
}

/* Repeats all labels for a recording that begins. */
static PyObject *track_again(PyObject *self, PyObject *args)
{
    struct ml_tracked *t;

    (void)self, (void)args;
    for (size_t i = 0; (t = ml_tracked_at(i)); i++)
        ml_tracked_move(t, 0);
    ml_tracked_check();
    ml_tracked_label_gradients();
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"track_again", track_again, METH_NOARGS, "Labels all tracked tensors and their gradients."},
    {"tracked_name", tracked_name, METH_O, "The name that a tensor is tracked by, or None."},
    {"tracked_model", tracked_model, METH_O,
     "The id() of the outermost module that a tracked tensor belongs to; 0: unknown."},
    {"untrack", untrack, METH_O,
     "Forgets a tensor. Returns the other arguments of track, or None if it is not tracked."},
    {"label_loaded", label_loaded, METH_VARARGS,
     "label_loaded(tensor, name, category): labels the tensor unless it is a tracked one."},
    {"track", track, METH_VARARGS,
     "track(tensor, name, category, whole=False, model=None): labels the tensor, and again when it "
     "moves; whole: tracked tensors that are parts of it do not name its block."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_tracked(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
