/* module_table.h: the names of PyTorch's modules, by the modules themselves.
 *
 * An entry lives as long as the process; it is found only as long as its module
 * lives. For threads that hold Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MODULE_TABLE_H
#define ML_MODULE_TABLE_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

struct ml_module_entry {
    PyObject *module; /* not owned; only to be compared */
    PyObject *alive;  /* weak reference to it, or itself where it takes none */
    PyObject *text;   /* the name, a str */
    uint32_t name;    /* likewise, the recorder's numbers */
    uint32_t class_name;
    uint32_t misses; /* of a root: modules below it that had no name */
    bool copy;       /* of a module that another thread is in too */
    bool hidden;     /* only passes calls on: no scope of its own */
};

/* NULL: it has no name. */
struct ml_module_entry *ml_module_find(PyObject *module);

/* Names a module, or names it anew.
 * @return NULL with an exception set */
struct ml_module_entry *ml_module_name(PyObject *module, PyObject *text, PyObject *class_text);

#endif
