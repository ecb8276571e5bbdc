/* tracked_list.c: see tracked_list.h.
 *
 * Entries are in two hash tables of chains, which have a chain for each place in the list. The
 * list is made shorter when most of its tensors are gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tracked_list.h"

#include <stdlib.h>

#define ROOM_LEAST 256

static struct {
    struct ml_tracked **items;
    struct ml_tracked **by_tensor, **by_data;
    size_t len;
    size_t room; /* of each of them; a power of two */
    unsigned users;
} all;

static size_t chain_of(uintptr_t address)
{
    return (size_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 24) & (all.room - 1);
}

static void link_tensor(struct ml_tracked *t)
{
    struct ml_tracked **chain = &all.by_tensor[chain_of(t->tensor)];

    t->next_by_tensor = *chain;
    *chain = t;
}

/* Not those that have no data: all would be in one chain. */
static void link_data(struct ml_tracked *t)
{
    struct ml_tracked **chain = &all.by_data[chain_of(t->data)];

    if (!t->data)
        return;
    t->next_by_data = *chain;
    *chain = t;
}

static void unlink_tensor(struct ml_tracked *t)
{
    struct ml_tracked **at = &all.by_tensor[chain_of(t->tensor)];

    while (*at != t)
        at = &(*at)->next_by_tensor;
    *at = t->next_by_tensor;
}

static void unlink_data(struct ml_tracked *t)
{
    struct ml_tracked **at = &all.by_data[chain_of(t->data)];

    if (!t->data)
        return;
    while (*at != t)
        at = &(*at)->next_by_data;
    *at = t->next_by_data;
}

/* ---- Room ------------------------------------------------------------------------ */

/* Borrowed; None: it is gone. */
static PyObject *tensor_of(const struct ml_tracked *t)
{
    return t->alive ? PyWeakref_GetObject(t->alive) : Py_None;
}

static bool is_alive(const struct ml_tracked *t)
{
    return tensor_of(t) != Py_None;
}

/* Takes what is there into tables of another size. */
static bool resize(size_t room)
{
    struct ml_tracked **items = calloc(room, sizeof(*items));
    struct ml_tracked **by_tensor = calloc(room, sizeof(*by_tensor));
    struct ml_tracked **by_data = calloc(room, sizeof(*by_data));

    if (!items || !by_tensor || !by_data) {
        free(items);
        free(by_tensor);
        free(by_data);
        return false;
    }
    for (size_t i = 0; i < all.len; i++)
        items[i] = all.items[i];
    free(all.items);
    free(all.by_tensor);
    free(all.by_data);
    all.items = items;
    all.by_tensor = by_tensor;
    all.by_data = by_data;
    all.room = room;
    for (size_t i = 0; i < all.len; i++) {
        link_tensor(all.items[i]);
        link_data(all.items[i]);
    }
    return true;
}

static void release(struct ml_tracked *t)
{
    unlink_tensor(t);
    unlink_data(t);
    Py_XDECREF(t->alive);
    Py_XDECREF(t->text);
    free(t);
}

void ml_tracked_forget_the_dead(void)
{
    size_t kept = 0;

    if (all.users)
        return;
    for (size_t i = 0; i < all.len; i++) {
        struct ml_tracked *t = all.items[i];
        if (is_alive(t))
            all.items[kept++] = t;
        else
            release(t);
    }
    all.len = kept;
    if (all.room > ROOM_LEAST && all.len <= all.room / 8)
        (void)resize(all.room / 2);
}

/* Forgets first, so that tensors that come and go need no more room than those that stay. */
static bool make_room(void)
{
    if (all.len < all.room)
        return true;
    if (!all.room)
        return resize(ROOM_LEAST);
    ml_tracked_forget_the_dead();
    return all.len <= all.room / 2 || resize(2 * all.room) || all.len < all.room;
}

/* ---- Entries ---------------------------------------------------------------------- */

struct ml_tracked *ml_tracked_at(size_t i)
{
    return i < all.len ? all.items[i] : NULL;
}

/* Another tensor may be where one was that is gone: the weak reference tells. */
struct ml_tracked *ml_tracked_find(PyObject *tensor)
{
    struct ml_tracked *t = all.room ? all.by_tensor[chain_of((uintptr_t)tensor)] : NULL;

    while (t && tensor_of(t) != tensor)
        t = t->next_by_tensor;
    return t;
}

bool ml_tracked_has_data(uintptr_t data)
{
    struct ml_tracked *t = all.room ? all.by_data[chain_of(data)] : NULL;

    while (t && t->data != data)
        t = t->next_by_data;
    return t;
}

struct ml_tracked *ml_tracked_whole(uintptr_t data, const struct ml_tracked *after)
{
    struct ml_tracked *t = after ? after->next_by_data : NULL;

    if (!after && all.room)
        t = all.by_data[chain_of(data)];
    while (t && !(t->whole && t->data == data))
        t = t->next_by_data;
    return t;
}

struct ml_tracked *ml_tracked_add(PyObject *tensor)
{
    PyObject *alive = PyWeakref_NewRef(tensor, NULL);
    struct ml_tracked *t = alive ? calloc(1, sizeof(*t)) : NULL;

    if (!t || !make_room()) {
        free(t);
        Py_XDECREF(alive);
        return alive ? (void *)PyErr_NoMemory() : NULL;
    }
    t->alive = alive;
    t->tensor = (uintptr_t)tensor;
    all.items[all.len++] = t;
    link_tensor(t);
    return t;
}

void ml_tracked_move(struct ml_tracked *t, uintptr_t data)
{
    unlink_data(t);
    t->data = data;
    link_data(t);
}

void ml_tracked_drop(struct ml_tracked *t)
{
    ml_tracked_move(t, 0);
    Py_CLEAR(t->alive);
}

PyObject *ml_tracked_tensor(const struct ml_tracked *t)
{
    PyObject *tensor = tensor_of(t);

    if (tensor == Py_None)
        return NULL;
    Py_INCREF(tensor);
    return tensor;
}

void ml_tracked_list_use(void)
{
    all.users++;
}

void ml_tracked_list_end_use(void)
{
    all.users--;
}
