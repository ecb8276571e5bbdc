/* read_trace.c: memledger._native.Reader, an open trace for Python, and the capsules with which
 * other packages import its tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "native.h"

#include <errno.h>

#include "read_rows.h"
#include "read_stream.h"
#include "summary_report.h"

/* The names that Arrow's PyCapsule interface prescribes. */
#define SCHEMA_CAPSULE "arrow_schema"
#define STREAM_CAPSULE "arrow_array_stream"

static PyObject *trace_error; /* memledger.TraceError */

struct reader {
    PyObject_HEAD struct ml_held_trace *held;
    PyObject *path; /* as given, in bytes */
};

static const char *path_of(const struct reader *r)
{
    return PyBytes_AsString(r->path);
}

/* ---- Errors ------------------------------------------------------------ */

static bool is_about_the_file(int code)
{
    return code == -ENOENT || code == -EACCES || code == -EPERM || code == -EISDIR ||
           code == -ENOTDIR || code == -EIO || code == -EMFILE || code == -ENFILE ||
           code == -ELOOP || code == -ENAMETOOLONG;
}

static PyObject *raise_error(const struct ml_error *err, int code, const char *path)
{
    if (code == -ENOMEM && !err->text[0])
        return PyErr_NoMemory();
    if (is_about_the_file(code)) {
        errno = -code;
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    }
    PyErr_SetString(code == -ENOMEM ? PyExc_MemoryError : trace_error, err->text);
    return NULL;
}

/* ---- Creating and closing a reader ---------------------------------------- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "salvage", NULL};
    struct ml_held_trace *held = NULL;
    struct ml_error err = {0};
    PyObject *path = NULL;
    struct reader *r;
    int salvage = 0, code;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|p", names, PyUnicode_FSConverter, &path,
                                     &salvage))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = ml_held_open(PyBytes_AsString(path), salvage, &held, &err);
    Py_END_ALLOW_THREADS if (code < 0)
    {
        raise_error(&err, code, PyBytes_AsString(path));
        Py_DECREF(path);
        return NULL;
    }
    r = (struct reader *)PyType_GenericAlloc(type, 0);
    if (!r) {
        ml_held_drop(held);
        Py_DECREF(path);
        return NULL;
    }
    r->held = held;
    r->path = path;
    return (PyObject *)r;
}

static void reader_dealloc(PyObject *self)
{
    struct reader *r = (struct reader *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);

    ml_held_drop(r->held);
    Py_XDECREF(r->path);
    release(self);
    Py_DECREF(type);
}

/* ---- Tables ------------------------------------------------------------ */

static const struct ml_table_kind *table_argument(PyObject *name)
{
    PyObject *bytes = PyUnicode_AsUTF8String(name);
    const struct ml_table_kind *kind = bytes ? ml_table_find(PyBytes_AsString(bytes)) : NULL;

    Py_XDECREF(bytes);
    if (!kind && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "a trace has no table %R", name);
    return kind;
}

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, SCHEMA_CAPSULE);

    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

static PyObject *reader_schema(PyObject *self, PyObject *name)
{
    const struct ml_table_kind *kind = table_argument(name);
    struct ArrowSchema *schema;
    PyObject *capsule;

    (void)self;
    if (!kind)
        return NULL;
    schema = calloc(1, sizeof(*schema));
    if (!schema || ml_columns_export(kind->columns, kind->column_count, schema) < 0) {
        free(schema);
        return PyErr_NoMemory();
    }
    capsule = PyCapsule_New(schema, SCHEMA_CAPSULE, free_schema);
    if (!capsule) {
        schema->release(schema);
        free(schema);
    }
    return capsule;
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM_CAPSULE);

    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

/* @ret_kind  of the table; may be NULL */
static struct ArrowArrayStream *open_stream(PyObject *self, PyObject *name,
                                            const struct ml_table_kind **ret_kind)
{
    const struct ml_table_kind *kind = table_argument(name);
    struct ArrowArrayStream *stream;

    if (!kind)
        return NULL;
    stream = calloc(1, sizeof(*stream));
    if (!stream || ml_table_stream(((struct reader *)self)->held, kind, stream) < 0) {
        free(stream);
        PyErr_NoMemory();
        return NULL;
    }
    if (ret_kind)
        *ret_kind = kind;
    return stream;
}

static PyObject *reader_stream(PyObject *self, PyObject *name)
{
    struct ArrowArrayStream *stream = open_stream(self, name, NULL);
    PyObject *capsule = stream ? PyCapsule_New(stream, STREAM_CAPSULE, free_stream) : NULL;

    if (stream && !capsule) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

static PyObject *reader_columns(PyObject *self, PyObject *name)
{
    const struct ml_table_kind *kind = table_argument(name);
    PyObject *list = kind ? PyList_New((Py_ssize_t)kind->column_count) : NULL;

    (void)self;
    for (size_t i = 0; list && i < kind->column_count; i++) {
        PyObject *text = PyUnicode_FromString(kind->columns[i].name);

        if (!text)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, text); /* steals it */
    }
    return list;
}

/* The next batch of a stream that reader_stream created. */
static int next_batch(const struct reader *r, struct ArrowArrayStream *stream,
                      struct ArrowArray *ret)
{
    int code;

    Py_BEGIN_ALLOW_THREADS code = stream->get_next(stream, ret);
    Py_END_ALLOW_THREADS if (code) raise_error(ml_stream_error(stream), -code, path_of(r));
    return code ? -1 : 0;
}

/* {column: values} of the next batch, None at the end. */
static PyObject *reader_next(PyObject *self, PyObject *args)
{
    PyObject *capsule, *name, *rows;
    struct ArrowArrayStream *stream;
    const struct ml_table_kind *kind;
    struct ArrowArray batch;

    if (!PyArg_ParseTuple(args, "OO", &name, &capsule))
        return NULL;
    kind = table_argument(name);
    stream = kind ? PyCapsule_GetPointer(capsule, STREAM_CAPSULE) : NULL;
    if (stream && !stream->release) {
        PyErr_SetString(PyExc_ValueError, "another reader has taken the stream");
        return NULL;
    }
    if (!stream || next_batch((struct reader *)self, stream, &batch) < 0)
        return NULL;
    if (!batch.release)
        Py_RETURN_NONE;
    if (batch.n_children != (int64_t)kind->column_count) {
        batch.release(&batch);
        PyErr_SetString(PyExc_ValueError, "the stream belongs to another table");
        return NULL;
    }
    rows = ml_rows_of(kind, &batch);
    batch.release(&batch);
    return rows;
}

static PyObject *reader_count(PyObject *self, PyObject *name)
{
    struct ArrowArrayStream *stream = open_stream(self, name, NULL);
    unsigned long long rows = 0;
    struct ArrowArray batch;
    int r = 0;

    if (!stream)
        return NULL;
    while ((r = next_batch((struct reader *)self, stream, &batch)) == 0 && batch.release) {
        rows += (unsigned long long)batch.length;
        batch.release(&batch);
    }
    stream->release(stream);
    free(stream);
    return r < 0 ? NULL : PyLong_FromUnsignedLongLong(rows);
}

/* ---- The trace as a whole ---------------------------------------------- */

static PyObject *config_of(const struct ml_trace *trace)
{
    PyObject *config = PyDict_New();

    for (uint32_t i = 0; config && i < ml_trace_configs(trace); i++) {
        const struct ml_config *entry = ml_trace_config(trace, i);
        uint32_t key_len, value_len;
        const char *key = ml_trace_string(trace, entry->key, &key_len);
        const char *value = ml_trace_string(trace, entry->value, &value_len);
        PyObject *k = PyUnicode_DecodeUTF8(key, (Py_ssize_t)key_len, "replace");
        PyObject *v = PyUnicode_DecodeUTF8(value, (Py_ssize_t)value_len, "replace");

        if (!k || !v || PyDict_SetItem(config, k, v) < 0)
            Py_CLEAR(config);
        Py_XDECREF(k);
        Py_XDECREF(v);
    }
    return config;
}

static PyObject *reader_info(PyObject *self, PyObject *unused)
{
    const struct ml_trace *trace = ml_held_trace(((struct reader *)self)->held);
    const struct ml_trace_info *info = ml_trace_info(trace);
    PyObject *config = config_of(trace);

    (void)unused;
    if (!config)
        return NULL;
    return Py_BuildValue(
        "{sK sK sK sK sI sN sK sI sK sN}", "start_wall_ns", (unsigned long long)info->start_wall_ns,
        "duration_ns", (unsigned long long)info->end_ns, "events", (unsigned long long)info->events,
        "file_bytes", (unsigned long long)info->file_bytes, "event_blocks",
        (unsigned int)info->event_blocks, "cut_short", PyBool_FromLong(!info->has_index),
        "ignored_bytes", (unsigned long long)info->ignored_bytes, "damaged_blocks",
        (unsigned int)info->damaged_blocks, "damaged_events",
        (unsigned long long)info->damaged_events, "config", config);
}

/* The output of `memledger summary --json`. */
static int summarize(const struct ml_trace *trace, const char *file, size_t top, struct ml_buf *out,
                     struct ml_error *err)
{
    const struct ml_summary_opts opts = {.top = top};
    struct ml_summary summary;
    int r = ml_summarize(trace, &opts, &summary, err);

    if (r == 0)
        r = ml_summary_json(&summary, file, out);
    ml_summary_release(&summary);
    return r;
}

static PyObject *reader_summary(PyObject *self, PyObject *args)
{
    struct reader *r = (struct reader *)self;
    const char *file = path_of(r);
    struct ml_error err = {0};
    struct ml_buf out = {0};
    PyObject *text;
    Py_ssize_t top;
    int code;

    if (!PyArg_ParseTuple(args, "n", &top))
        return NULL;
    Py_BEGIN_ALLOW_THREADS code =
        summarize(ml_held_trace(r->held), file, top < 0 ? 0 : (size_t)top, &out, &err);
    Py_END_ALLOW_THREADS text =
        code < 0 ? raise_error(&err, code, file)
                 : PyUnicode_DecodeUTF8((const char *)out.data, (Py_ssize_t)out.len, "strict");
    ml_buf_release(&out);
    return text;
}

/* ---- The type ---------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"info", reader_info, METH_NOARGS, "Facts about the file as a whole."},
    {"summary", reader_summary, METH_VARARGS, "summary(top): JSON of `memledger summary`."},
    {"columns", reader_columns, METH_O | METH_STATIC, "columns(table): their names."},
    {"schema", reader_schema, METH_O | METH_STATIC, "schema(table): an Arrow schema in a capsule."},
    {"stream", reader_stream, METH_O, "stream(table): an Arrow stream in a capsule."},
    {"next", reader_next, METH_VARARGS, "next(table, stream): a batch as lists; None: the end."},
    {"count", reader_count, METH_O, "count(table): its rows."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Reader(path, salvage=False): an open trace."},
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "memledger._native.Reader",
    .basicsize = sizeof(struct reader),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

static PyObject *table_names(void)
{
    PyObject *names = PyList_New(0);

    for (size_t i = 0; names && ml_tables[i]; i++) {
        PyObject *name = PyUnicode_FromString(ml_tables[i]->name);

        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* Takes over the value, which may be NULL. */
static int add(PyObject *module, const char *name, PyObject *value)
{
    int r = value ? PyObject_SetAttrString(module, name, value) : -1;

    Py_XDECREF(value);
    return r;
}

int ml_native_add_reading(PyObject *module)
{
    trace_error = PyErr_NewExceptionWithDoc("memledger.TraceError",
                                            "The file is not a trace, or is damaged.", NULL, NULL);
    if (!trace_error)
        return -1;
    Py_INCREF(trace_error); /* this library's reference */
    if (add(module, "TraceError", trace_error) < 0 || add(module, "TABLES", table_names()) < 0 ||
        add(module, "version", PyUnicode_FromString(MEMLEDGER_VERSION)) < 0)
        return -1;
    return add(module, "Reader", PyType_FromSpec(&spec));
}
