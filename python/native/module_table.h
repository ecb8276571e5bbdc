/* module_table.h: the names of PyTorch's modules, by module.
 *
 * An entry is found as long as its module lives, and stays while somebody holds it. For
 * threads that hold Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MODULE_TABLE_H
#define ML_MODULE_TABLE_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

#include "step_bounds.h"

struct ml_module_entry {
    uintptr_t module; /* its address: another may be there once it is gone */
    PyObject *alive;  /* weak reference to it, or itself if it supports none */
    unsigned holders; /* the table while it has the entry, and calls */
    PyObject *root;   /* weak reference to the outermost module of its tree, NULL: itself */
    PyObject *text;   /* the name, a str */
    uint32_t name;    /* the same, as the recorder's number */
    uint32_t class_name;
    uint32_t misses;                /* of a root: descendants without a name */
    bool copy;                      /* a copy of a module that another thread is in too */
    bool hidden;                    /* only passes calls on: gets no scope */
    bool wrapper;                   /* has the name of the module that it wraps */
    struct ml_call_history history; /* of a root, likewise the next two */
    uint64_t thread;                /* that called it last: see model_threads.h; 0: none */
    bool shared;                    /* several threads have called it */
};

/* NULL: it has no name. The entry stays as long as the caller keeps the module alive. */
struct ml_module_entry *ml_module_find(PyObject *module);

/* The module, a new reference; NULL: it is gone. */
PyObject *ml_module_of(const struct ml_module_entry *entry);

/* Each hold has its release; NULL is fine. */
struct ml_module_entry *ml_module_hold(struct ml_module_entry *entry);
void ml_module_release(struct ml_module_entry *entry);

/* The entry of the outermost module; the entry itself if that is gone. */
struct ml_module_entry *ml_module_root(struct ml_module_entry *entry);

/* Says which module is the outermost.
 * @return 0, or -1 with an exception set */
int ml_module_set_root(struct ml_module_entry *entry, PyObject *root);

/* Names or renames a module.
 * @return NULL with an exception set */
struct ml_module_entry *ml_module_name(PyObject *module, PyObject *text, PyObject *class_text);

#endif
