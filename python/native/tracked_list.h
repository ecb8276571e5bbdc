/* tracked_list.h: the tensors that are tracked, in the order in which they came, and found by
 * the tensor or by where its data is.
 *
 * Asking a tensor may run Python code, which may come back here or let other threads in: while
 * anybody uses the list (ml_tracked_list_use) each entry stays where it is. For threads that
 * hold Python's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACKED_LIST_H
#define ML_TRACKED_LIST_H

#include "native.h"

#include <stdbool.h>
#include <stdint.h>

#include "tensor_fields.h"

struct ml_tracked {
    PyObject *alive;  /* weak reference to the tensor; NULL: it is no longer tracked */
    uintptr_t tensor; /* its address, while it is alive */
    uintptr_t data;   /* its address when last labelled, 0: none; ml_tracked_move sets it */
    struct ml_tensor_fields fields; /* likewise; no storage: unknown */
    PyObject *text;                 /* its name, a str */
    uint32_t name;                  /* likewise, the recorder's number */
    int category;
    int cuda_device;      /* -1: the host; its gradient is on the same */
    bool gradient_begins; /* its last gradient began where its block did */
    bool whole;           /* names the block, also for the tensors that are parts of it */
    struct ml_tracked *next_by_tensor, *next_by_data;
    uintptr_t model; /* the outermost module that it belongs to, 0: unknown */
};

/* Entries from 0 on; NULL: there are no more. */
struct ml_tracked *ml_tracked_at(size_t i);

/* NULL: it is not tracked. */
struct ml_tracked *ml_tracked_find(PyObject *tensor);

/* Whether there is one whose data begins at this address, which is not 0. */
bool ml_tracked_has_data(uintptr_t data);

/* The first of those tracked as a whole whose data began at this address when last labelled, or the
 * next one; NULL: there are no more. */
struct ml_tracked *ml_tracked_whole(uintptr_t data, const struct ml_tracked *after);

/* Adds a tensor that is not tracked. @return NULL with an exception set */
struct ml_tracked *ml_tracked_add(PyObject *tensor);

void ml_tracked_move(struct ml_tracked *t, uintptr_t data);

/* Drops the weak reference to the tensor. */
void ml_tracked_drop(struct ml_tracked *t);

/* A new reference; NULL: it is gone. */
PyObject *ml_tracked_tensor(const struct ml_tracked *t);

/* Each use has its end. Entries of tensors that are gone are forgotten when the list is not in
 * use. */
void ml_tracked_list_use(void);
void ml_tracked_list_end_use(void);
void ml_tracked_forget_the_dead(void);

#endif
