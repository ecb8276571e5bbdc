/* pickle_build.c: the stack, the memo and the containers of a pickle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pickle_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int ml_pickle_bad(const struct ml_pickle_machine *m, struct ml_error *err, const char *what)
{
    return ml_error_set(err, -EINVAL, "%s: byte %" PRIu64 ": %s", m->source->name, m->op_offset,
                        what);
}

int ml_pickle_no_memory(const struct ml_pickle_machine *m, struct ml_error *err)
{
    return ml_error_set(err, -ENOMEM, "%s: not enough memory", m->source->name);
}

/* ---- The stack ------------------------------------------------------------ */

/* The lowest value that an opcode may use: above the last mark. */
static size_t floor_of(const struct ml_pickle_machine *m)
{
    return m->marks.len ? m->marks.items[m->marks.len - 1] : 0;
}

static int too_few(const struct ml_pickle_machine *m, struct ml_error *err)
{
    return ml_pickle_bad(m, err, "the pickle is damaged: an opcode finds too few values");
}

int ml_pickle_push(struct ml_pickle_machine *m, ml_pickle_value value, struct ml_error *err)
{
    return ml_vec_push(&m->stack, value) < 0 ? ml_pickle_no_memory(m, err) : 0;
}

int ml_pickle_mark(struct ml_pickle_machine *m, struct ml_error *err)
{
    return ml_vec_push(&m->marks, m->stack.len) < 0 ? ml_pickle_no_memory(m, err) : 0;
}

int ml_pickle_pop_mark(struct ml_pickle_machine *m, struct ml_error *err)
{
    if (m->marks.len == 0)
        return too_few(m, err);
    m->stack.len = m->marks.items[--m->marks.len];
    return 0;
}

int ml_pickle_pop(struct ml_pickle_machine *m, struct ml_error *err)
{
    /* Python's POP removes a mark if there is nothing above it. */
    if (m->marks.len && m->stack.len == floor_of(m))
        m->marks.len--;
    else if (m->stack.len == 0)
        return too_few(m, err);
    else
        m->stack.len--;
    return 0;
}

int ml_pickle_dup(struct ml_pickle_machine *m, struct ml_error *err)
{
    if (m->stack.len <= floor_of(m))
        return too_few(m, err);
    return ml_pickle_push(m, m->stack.items[m->stack.len - 1], err);
}

/* ---- The memo --------------------------------------------------------------- */

/* Picklers number memo entries consecutively, so a number is smaller than its byte offset. A
 * file with larger numbers could request any amount of memory. */
int ml_pickle_put(struct ml_pickle_machine *m, uint64_t number, struct ml_error *err)
{
    if (m->stack.len <= floor_of(m))
        return too_few(m, err);
    if (number >= m->memo.len) {
        size_t more = (size_t)(number + 1 - m->memo.len);

        if (number > m->op_offset)
            return ml_pickle_bad(m, err, "the pickle is damaged: no memo entry has this number");
        if (ml_vec_reserve(&m->memo, more) < 0)
            return ml_pickle_no_memory(m, err);
        memset(m->memo.items + m->memo.len, 0, more * sizeof(*m->memo.items));
        m->memo.len += more;
    }
    m->memo.items[number] = m->stack.items[m->stack.len - 1];
    return 0;
}

int ml_pickle_get(struct ml_pickle_machine *m, uint64_t number, struct ml_error *err)
{
    if (number >= m->memo.len)
        return ml_pickle_bad(m, err, "the pickle is damaged: no memo entry has this number");
    return ml_pickle_push(m, m->memo.items[number], err);
}

/* ---- Containers --------------------------------------------------------------- */

#define ITEMS_LEAST 4u

/* Capacity is a power of two, so that a node need not store it. */
static size_t room_for(size_t len)
{
    size_t room = ITEMS_LEAST;

    while (room < len)
        room *= 2;
    return len ? room : 0;
}

static int store(struct ml_pickle_machine *m, struct ml_pickle_node *node,
                 const ml_pickle_value *from, size_t count, struct ml_error *err)
{
    size_t len = node->len + count, room = room_for(len);

    if (len > UINT32_MAX)
        return ml_pickle_bad(m, err, "a container of more than 4 billion items");
    if (room != room_for(node->len)) {
        ml_pickle_value *items = ml_arena_alloc(&m->items, room * sizeof(*items));

        if (!items)
            return ml_pickle_no_memory(m, err);
        if (node->len)
            memcpy(items, node->items, node->len * sizeof(*items));
        node->items = items;
    }
    if (count)
        memcpy(node->items + node->len, from, count * sizeof(*from));
    node->len = (uint32_t)len;
    return 0;
}

static int offer(struct ml_pickle_machine *m, struct ml_pickle_node *node,
                 const ml_pickle_value *from, size_t count, struct ml_error *err)
{
    const struct ml_pickle_taker *taker = m->taker;

    if (!taker || count == 0)
        return 0;
    /* A single pair may be the first of several that are added one at a time. */
    if (node->kind == ML_PICKLE_DICT && node->len == 0 && count > 2)
        return taker->dict(taker->ctx, node, from, count, err);
    if (node->kind == ML_PICKLE_TAKEN || (node->kind == ML_PICKLE_LIST && node->len == 0))
        return taker->list(taker->ctx, node, from, count, err);
    return 0;
}

static int add(struct ml_pickle_machine *m, struct ml_pickle_node *node, enum ml_pickle_kind kind,
               const ml_pickle_value *from, size_t count, struct ml_error *err)
{
    int r;

    if (node->kind != kind && node->kind != ML_PICKLE_TAKEN)
        return ml_pickle_bad(m, err, "the pickle is damaged: items for another kind of container");
    if (kind == ML_PICKLE_DICT && count % 2)
        return ml_pickle_bad(m, err, "the pickle is damaged: a key without a value");
    r = offer(m, node, from, count, err);
    if (r != 0)
        return r < 0 ? r : 0;
    if (node->kind == ML_PICKLE_TAKEN)
        return ml_pickle_bad(m, err, "items are added to something that was complete");
    return store(m, node, from, count, err);
}

int ml_pickle_gather(struct ml_pickle_machine *m, enum ml_pickle_kind kind, size_t count,
                     struct ml_error *err)
{
    struct ml_pickle_node node = {.kind = (uint8_t)kind};
    int r;

    if (m->stack.len - floor_of(m) < count)
        return too_few(m, err);
    m->stack.len -= count;
    r = add(m, &node, kind, m->stack.items + m->stack.len, count, err);
    if (r < 0)
        return r;
    if (ml_vec_push(&m->nodes, node) < 0)
        return ml_pickle_no_memory(m, err);
    return ml_pickle_push(m, ml_pickle_make(ML_PICKLE_NODE, m->nodes.len - 1), err);
}

int ml_pickle_extend(struct ml_pickle_machine *m, enum ml_pickle_kind kind, size_t count,
                     struct ml_error *err)
{
    struct ml_pickle_node *node;

    if (m->stack.len - floor_of(m) < count + 1)
        return too_few(m, err);
    m->stack.len -= count;
    node = ml_pickle_node(m, m->stack.items[m->stack.len - 1]);
    if (!node)
        return ml_pickle_bad(m, err,
                             "the pickle is damaged: items for a value that is not a container");
    return add(m, node, kind, m->stack.items + m->stack.len, count, err);
}

/* Counts the values above the last mark and removes the mark. */
static int count_marked(struct ml_pickle_machine *m, size_t *ret, struct ml_error *err)
{
    if (m->marks.len == 0)
        return too_few(m, err);
    *ret = m->stack.len - floor_of(m);
    m->marks.len--;
    return 0;
}

int ml_pickle_gather_marked(struct ml_pickle_machine *m, enum ml_pickle_kind kind,
                            struct ml_error *err)
{
    size_t count = 0;
    int r = count_marked(m, &count, err);

    return r < 0 ? r : ml_pickle_gather(m, kind, count, err);
}

int ml_pickle_extend_marked(struct ml_pickle_machine *m, enum ml_pickle_kind kind,
                            struct ml_error *err)
{
    size_t count = 0;
    int r = count_marked(m, &count, err);

    return r < 0 ? r : ml_pickle_extend(m, kind, count, err);
}
