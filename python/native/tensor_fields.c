/* tensor_fields.c: see tensor_fields.h.
 *
 * A Python tensor has a pointer to the implementation, a TensorImpl. This and the StorageImpl begin
 * with a table of virtual functions and one or two words of reference counts, which depends on the
 * version. The first field after that is the pointer to the storage, or to the memory. The offset
 * comes later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tensor_fields.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "interned.h"
#include "recorder.h"

/* const at::Tensor &c10::TensorImpl::grad() const, and the implementation of a tensor that is not
 * there. */
#define GRADIENT "_ZNK3c1010TensorImpl4gradEv"
#define UNDEFINED "_ZN3c1019UndefinedTensorImpl10_singletonE"

typedef const uintptr_t *gradient_function(uintptr_t implementation);

#define WORD sizeof(uintptr_t)
#define HEAD_WORDS_MAX 6        /* of a Python tensor, up to the pointer */
#define COUNT_END 4096          /* a reference count is less, a pointer more */
#define OFFSET_BEGIN (5 * WORD) /* the offset is behind the pointers … */
#define OFFSET_END (23 * WORD)  /* … and well within a TensorImpl */

static struct {
    size_t implementation; /* offset in the Python object */
    size_t first;          /* of the first field of both implementations */
    size_t offset;         /* in the TensorImpl; 0: nothing is known */
    gradient_function *gradient;
    uintptr_t undefined;
} fields;

static uintptr_t word_at(uintptr_t address)
{
    uintptr_t word;

    memcpy(&word, (const void *)address, sizeof(word));
    return word;
}

/* ---- Reading ---------------------------------------------------------------------- */

static bool read_fields(uintptr_t implementation, struct ml_tensor_fields *ret)
{
    uintptr_t storage = implementation ? word_at(implementation + fields.first) : 0;

    if (!storage)
        return false;
    ret->storage = word_at(storage + fields.first);
    ret->offset = word_at(implementation + fields.offset);
    return ret->storage;
}

bool ml_tensor_fields(PyObject *tensor, struct ml_tensor_fields *ret)
{
    return fields.offset && read_fields(word_at((uintptr_t)tensor + fields.implementation), ret);
}

enum ml_gradient ml_tensor_gradient(PyObject *tensor, struct ml_tensor_fields *ret)
{
    uintptr_t implementation =
        fields.gradient ? word_at((uintptr_t)tensor + fields.implementation) : 0;
    uintptr_t gradient = implementation ? *fields.gradient(implementation) : 0;

    if (!gradient)
        return ML_GRADIENT_UNKNOWN;
    if (gradient == fields.undefined)
        return ML_GRADIENT_NONE;
    return read_fields(gradient, ret) ? ML_GRADIENT_FOUND : ML_GRADIENT_UNKNOWN;
}

/* ---- Learning ---------------------------------------------------------------------- */

/* A tensor of which everything is known. */
struct sample {
    PyObject *tensor;
    uintptr_t implementation;
    struct ml_tensor_fields known;
};

static uintptr_t number(PyObject *value)
{
    uintptr_t found = value ? PyLong_AsSize_t(value) : 0;

    Py_XDECREF(value);
    return found;
}

/* @return whether PyTorch gave all answers; false: with an exception set */
static bool ask(PyObject *tensor, struct sample *ret)
{
    uintptr_t size;

    *ret = (struct sample){.tensor = tensor};
    ret->implementation = number(PyObject_GetAttr(tensor, ml_str._cdata));
    if (!PyErr_Occurred())
        ret->known.storage = number(PyObject_CallMethodObjArgs(tensor, ml_str.data_ptr, NULL));
    if (!PyErr_Occurred())
        ret->known.offset = number(PyObject_CallMethodObjArgs(tensor, ml_str.storage_offset, NULL));
    size = PyErr_Occurred() ? 0
                            : number(PyObject_CallMethodObjArgs(tensor, ml_str.element_size, NULL));
    ret->known.storage -= ret->known.offset * size;
    return !PyErr_Occurred();
}

/* Where all samples have the address of their implementation; 0: nowhere. */
static size_t find_implementation(const struct sample *samples, size_t n)
{
    for (size_t at = sizeof(PyObject); at < HEAD_WORDS_MAX * WORD; at += WORD) {
        size_t same = 0;

        while (same < n &&
               word_at((uintptr_t)samples[same].tensor + at) == samples[same].implementation)
            same++;
        if (same == n)
            return at;
    }
    return 0;
}

static size_t find_offset(const struct sample *samples, size_t n)
{
    for (size_t at = OFFSET_BEGIN; at < OFFSET_END; at += WORD) {
        size_t same = 0;

        while (same < n && word_at(samples[same].implementation + at) == samples[same].known.offset)
            same++;
        if (same == n)
            return at;
    }
    return 0;
}

/* Whether there is such a word, for an address that may be none: the kernel reads it, by calls that
 * no sandbox forbids to a program that imports modules. */
static bool has_word(uintptr_t address, uintptr_t wanted)
{
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    uintptr_t word = 0;
    bool has = fd >= 0 && pread(fd, &word, sizeof(word), (off_t)address) == sizeof(word) &&
               word == wanted;

    if (fd >= 0)
        close(fd);
    return has;
}

static bool storage_is_as_known(const struct sample *s)
{
    uintptr_t storage = word_at(s->implementation + fields.first);

    return has_word(storage + fields.first, s->known.storage);
}

static bool is_as_known(const struct sample *s)
{
    struct ml_tensor_fields found;

    return ml_tensor_fields(s->tensor, &found) && found.storage == s->known.storage &&
           found.offset == s->known.offset;
}

/* The third is the gradient of the second, the first has none. */
static bool gradient_is_as_known(const struct sample *samples)
{
    struct ml_tensor_fields found;

    return ml_tensor_gradient(samples[0].tensor, &found) == ML_GRADIENT_NONE &&
           ml_tensor_gradient(samples[1].tensor, &found) == ML_GRADIENT_FOUND &&
           found.storage == samples[2].known.storage && found.offset == samples[2].known.offset;
}

static void learn_gradient(const struct sample *samples)
{
    const struct ml_extension_api *recorder = ml_native_recorder();

    fields.undefined = recorder ? (uintptr_t)recorder->torch_function(UNDEFINED) : 0;
    if (fields.undefined)
        fields.gradient = (gradient_function *)recorder->torch_function(GRADIENT);
    if (fields.gradient && !gradient_is_as_known(samples))
        fields.gradient = NULL;
}

static void learn(const struct sample *samples, size_t n)
{
    memset(&fields, 0, sizeof(fields));
    fields.implementation = find_implementation(samples, n);
    if (!fields.implementation)
        return;
    fields.first = word_at(samples[0].implementation + 2 * WORD) < COUNT_END ? 3 * WORD : 2 * WORD;
    fields.offset = find_offset(samples, n);
    for (size_t i = 0; i < n && fields.offset; i++)
        if (!storage_is_as_known(&samples[i]) || !is_as_known(&samples[i]))
            fields.offset = 0;
    if (fields.offset)
        learn_gradient(samples);
}

#define SAMPLES 3

/* learn_tensor_fields(tensor, another, its gradient), all in one storage of the host, at different
 * offsets. @return whether both functions above work */
static PyObject *learn_tensor_fields(PyObject *self, PyObject *args)
{
    struct sample samples[SAMPLES];
    PyObject *tensors[SAMPLES];

    (void)self;
    if (!PyArg_ParseTuple(args, "OOO", &tensors[0], &tensors[1], &tensors[2]))
        return NULL;
    for (size_t i = 0; i < SAMPLES; i++)
        if (!ask(tensors[i], &samples[i]))
            return NULL;
    learn(samples, SAMPLES);
    return PyBool_FromLong(fields.gradient != NULL);
}

static PyMethodDef methods[] = {
    {"learn_tensor_fields", learn_tensor_fields, METH_VARARGS,
     "learn_tensor_fields(tensor, another, its gradient): where PyTorch keeps their addresses. "
     "Returns whether that was found."},
    {NULL, NULL, 0, NULL},
};

int ml_native_add_tensor_fields(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
