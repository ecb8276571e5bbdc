/* module_table.h: the names of PyTorch's modules, by module.
 *
 * An entry exists until the process ends, but is found only while its module is alive. Callers
 * must hold Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MODULE_TABLE_H
#define ML_MODULE_TABLE_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

struct ml_module_entry {
    PyObject *module; /* not owned; for comparison only */
    PyObject *alive;  /* weak reference to it, or itself if it supports none */
    PyObject *text;   /* the name, a str */
    uint32_t name;    /* the same, as the recorder's number */
    uint32_t class_name;
    uint32_t misses; /* of a root: descendants without a name */
    bool copy;       /* a copy of a module that another thread is in too */
    bool hidden;     /* only passes calls on: gets no scope */
};

/* NULL: it has no name. */
struct ml_module_entry *ml_module_find(PyObject *module);

/* Names or renames a module.
 * @return NULL with an exception set */
struct ml_module_entry *ml_module_name(PyObject *module, PyObject *text, PyObject *class_text);

#endif
