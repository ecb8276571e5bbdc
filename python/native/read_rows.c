/* read_rows.c: see read_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "read_rows.h"

static bool has_bit(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> (i % 8) & 1;
}

/* The texts of a dictionary as a list, so that each is created once. */
static PyObject *texts_of(const struct ArrowArray *dictionary)
{
    const int64_t *offsets = dictionary->buffers[1];
    const char *bytes = dictionary->buffers[2];
    PyObject *list = PyList_New((Py_ssize_t)dictionary->length);

    for (int64_t i = 0; list && i < dictionary->length; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(bytes + offsets[i],
                                              (Py_ssize_t)(offsets[i + 1] - offsets[i]), "replace");

        if (!text)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, text); /* steals it */
    }
    return list;
}

static PyObject *text_at(PyObject *texts, uint32_t code)
{
    PyObject *text = PyList_GetItem(texts, (Py_ssize_t)code);

    Py_XINCREF(text);
    return text;
}

static PyObject *value_at(enum ml_column_type type, const void *values, int64_t i, PyObject *texts)
{
    switch (type) {
    case ML_COLUMN_U64: return PyLong_FromUnsignedLongLong(((const uint64_t *)values)[i]);
    case ML_COLUMN_I64: return PyLong_FromLongLong(((const int64_t *)values)[i]);
    case ML_COLUMN_U32: return PyLong_FromUnsignedLong(((const uint32_t *)values)[i]);
    case ML_COLUMN_BOOL: return PyBool_FromLong(has_bit(values, i));
    case ML_COLUMN_TEXT: return text_at(texts, ((const uint32_t *)values)[i]);
    }
    return NULL;
}

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static int fill_list(PyObject *list, enum ml_column_type type, const struct ArrowArray *column,
                     PyObject *texts)
{
    const void *valid = column->buffers[0];

    for (int64_t i = 0; i < column->length; i++) {
        PyObject *value =
            valid && !has_bit(valid, i) ? none() : value_at(type, column->buffers[1], i, texts);

        if (!value)
            return -1;
        PyList_SetItem(list, (Py_ssize_t)i, value); /* steals it */
    }
    return 0;
}

static PyObject *list_of(enum ml_column_type type, const struct ArrowArray *column)
{
    PyObject *texts = type == ML_COLUMN_TEXT ? texts_of(column->dictionary) : NULL;
    PyObject *list = NULL;

    if (type != ML_COLUMN_TEXT || texts)
        list = PyList_New((Py_ssize_t)column->length);
    if (list && fill_list(list, type, column, texts) < 0)
        Py_CLEAR(list);
    Py_XDECREF(texts);
    return list;
}

PyObject *ml_rows_of(const struct ml_table_kind *kind, const struct ArrowArray *batch)
{
    PyObject *rows = PyDict_New();

    for (size_t i = 0; rows && i < kind->column_count; i++) {
        PyObject *list = list_of(kind->columns[i].type, batch->children[i]);

        if (!list || PyDict_SetItemString(rows, kind->columns[i].name, list) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(list);
    }
    return rows;
}
