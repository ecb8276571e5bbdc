/* profile_memory.c: see profile_memory.h. When memory runs out, blocks that could not
 * be remembered are not counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile_memory.h"

#include <errno.h>

#include "compiler.h"

void ml_profile_memory_init(struct ml_profile_memory *m, const struct ml_dict *dict)
{
    *m = (struct ml_profile_memory){.dict = dict};
}

void ml_profile_memory_release(struct ml_profile_memory *m)
{
    for (size_t i = 0; i < m->spaces.len; i++)
        ml_map_release(&m->spaces.items[i].live);
    ml_vec_release(&m->books);
    ml_vec_release(&m->spaces);
    ml_vec_release(&m->moves);
    ml_map_release(&m->space_index);
    ml_map_release(&m->move_index);
}

void ml_profile_memory_clear(struct ml_profile_memory *m)
{
    for (size_t i = 0; i < m->spaces.len; i++)
        ml_map_clear(&m->spaces.items[i].live);
    for (size_t i = 0; i < m->books.len; i++)
        m->books.items[i].bytes = 0;
    ml_map_clear(&m->move_index);
    ml_vec_clear(&m->moves);
}

/* ---- Spaces and books --------------------------------------------------- */

static int64_t book_of(struct ml_profile_memory *m, uint32_t device, uint32_t level)
{
    for (size_t i = 0; i < m->books.len; i++) {
        if (m->books.items[i].device == device && m->books.items[i].level == level)
            return (int64_t)i;
    }
    if (ml_vec_push(&m->books, (struct ml_memory_book){.device = device, .level = level}))
        return -ENOMEM;
    return (int64_t)m->books.len - 1;
}

static struct ml_memory_space *space_of(struct ml_profile_memory *m, uint32_t number)
{
    const struct ml_def *def;
    struct ml_memory_space s = {0};
    uint64_t at;
    int64_t book;

    if (ml_map_get(&m->space_index, number, &at))
        return &m->spaces.items[at];
    def = ml_dict_get(m->dict, ML_DEF_SPACE, number);
    if (!def)
        return NULL;
    book =
        book_of(m, (uint32_t)def->fields[ML_SPACE_DEVICE], (uint32_t)def->fields[ML_SPACE_LEVEL]);
    s.book = (uint32_t)book;
    if (book < 0 || ml_vec_push(&m->spaces, s))
        return NULL;
    if (ml_map_put(&m->space_index, number, m->spaces.len - 1)) {
        m->spaces.len--;
        return NULL;
    }
    return &m->spaces.items[m->spaces.len - 1];
}

/* ---- Blocks ------------------------------------------------------------- */

static bool add(struct ml_profile_memory *m, struct ml_memory_space *s, uint64_t addr,
                uint64_t bytes)
{
    if (ml_map_put(&s->live, addr, bytes))
        return false;
    m->books.items[s->book].bytes += bytes;
    return true;
}

static bool take(struct ml_profile_memory *m, struct ml_memory_space *s, uint64_t addr,
                 uint64_t *ret_bytes)
{
    uint64_t *total = &m->books.items[s->book].bytes;

    if (!ml_map_take(&s->live, addr, ret_bytes))
        return false;
    *total -= ml_min_u64(*total, *ret_bytes);
    return true;
}

/* A block that is still live when its address is allocated again was freed
 * without an event. */
static bool alloc(struct ml_profile_memory *m, struct ml_memory_space *s, const struct ml_event *ev)
{
    uint64_t old;

    take(m, s, ev->addr, &old);
    return add(m, s, ev->addr, ev->size);
}

struct address_span {
    uint64_t addr, end;
};

/* Ranges are freed by munmap and the like, whose spaces have few blocks:
 * a search over all of them is good enough. */
static bool free_range(struct ml_profile_memory *m, struct ml_memory_space *s,
                       const struct ml_event *ev)
{
    ML_VEC(struct address_span) hit = {0};
    uint64_t from = ev->addr, to = ev->addr + ev->size;
    uint64_t addr, bytes;
    size_t cursor = 0;
    bool any;

    while (ml_map_next(&s->live, &cursor, &addr, &bytes)) {
        if (addr < to && addr + bytes > from &&
            ml_vec_push(&hit, (struct address_span){addr, addr + bytes}))
            break;
    }
    for (size_t i = 0; i < hit.len; i++) {
        struct address_span p = hit.items[i];
        take(m, s, p.addr, &bytes);
        if (p.addr < from)
            add(m, s, p.addr, from - p.addr);
        if (p.end > to)
            add(m, s, to, p.end - to);
    }
    any = hit.len;
    ml_vec_release(&hit);
    return any;
}

/* ---- Moves -------------------------------------------------------------- */

static void remember_move(struct ml_profile_memory *m, uint32_t thread, struct ml_memory_move move)
{
    uint64_t at;

    if (ml_map_get(&m->move_index, thread, &at))
        m->moves.items[at] = move;
    else if (!ml_vec_push(&m->moves, move) && ml_map_put(&m->move_index, thread, m->moves.len - 1))
        m->moves.len--;
}

static bool move(struct ml_profile_memory *m, struct ml_memory_space *s, const struct ml_event *ev)
{
    uint64_t bytes;

    if (!take(m, s, ev->addr, &bytes))
        return false;
    remember_move(m, ev->thread,
                  (struct ml_memory_move){.space = ev->space, .addr = ev->addr, .bytes = bytes});
    return true;
}

static bool move_failed(struct ml_profile_memory *m, struct ml_memory_space *s,
                        const struct ml_event *ev)
{
    struct ml_memory_move *last;
    uint64_t at;

    if (!ml_map_get(&m->move_index, ev->thread, &at))
        return false;
    last = &m->moves.items[at];
    if (last->space != ev->space || last->addr != ev->addr || !last->bytes)
        return false;
    add(m, s, last->addr, last->bytes);
    last->bytes = 0;
    return true;
}

static bool count(struct ml_profile_memory *m, struct ml_memory_space *s, const struct ml_event *ev)
{
    uint64_t bytes;

    switch (ev->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX: return alloc(m, s, ev);
    case ML_FREE: return take(m, s, ev->addr, &bytes);
    case ML_FREE_RANGE: return free_range(m, s, ev);
    case ML_MOVE: return move(m, s, ev);
    default: return move_failed(m, s, ev);
    }
}

int64_t ml_profile_memory_event(struct ml_profile_memory *m, const struct ml_event *ev)
{
    struct ml_memory_space *s = space_of(m, ev->space);

    return s && count(m, s, ev) ? (int64_t)s->book : -1;
}
