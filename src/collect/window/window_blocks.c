/* window_blocks.c: see window_blocks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_blocks.h"

#include <errno.h>

#include "block.h"
#include "heartbeat.h"
#include "memledger/memledger.h"
#include "window_ranges.h"

/* Entries of the pool. */
#define TIDY_LEAST 4096
#define PREFETCH_LEAST 16384 /* fewer are in the cache */
#define BEAT_EVERY 65536

void ml_window_blocks_release(struct ml_window_blocks *w)
{
    for (size_t i = 0; i < w->spaces.len; i++) {
        ml_map_release(&w->spaces.items[i].by_addr);
        ml_order_release(&w->spaces.items[i].by_order);
    }
    ml_vec_release(&w->spaces);
    ml_vec_release(&w->pool);
    ml_map_release(&w->moved);
    *w = (struct ml_window_blocks){0};
}

/* ---- The pool and its indexes -------------------------------------------- */

static struct ml_window_space *enter_space(struct ml_window_blocks *w, uint32_t number)
{
    struct ml_window_space *s;

    while (w->spaces.len <= number) {
        if (number >= ML_ID_MAX || ml_vec_push(&w->spaces, (struct ml_window_space){0}))
            return NULL;
    }
    s = &w->spaces.items[number];
    s->used = true;
    s->ended = false;
    return s;
}

int64_t ml_window_pool_add(struct ml_window_blocks *w, const struct ml_window_block *block)
{
    if (w->pool.len >= UINT32_MAX - 1 || ml_vec_push(&w->pool, *block))
        return -ENOMEM;
    w->kept++;
    return (int64_t)w->pool.len - 1;
}

void ml_window_pool_drop(struct ml_window_blocks *w, uint32_t block)
{
    w->kept -= w->pool.items[block].kept;
    w->pool.items[block].kept = false;
}

void ml_window_book_out(struct ml_window_space *s, uint64_t bytes)
{
    s->live_bytes -= bytes;
    s->live_blocks--;
}

static void book_in(struct ml_window_space *s, const struct ml_window_block *b, uint64_t time_ns)
{
    s->live_bytes += b->size;
    s->live_blocks++;
    if (s->live_bytes > s->peak_bytes) {
        s->peak_bytes = s->live_bytes;
        s->peak_ns = time_ns;
    }
}

static bool take(struct ml_window_space *s, uint64_t addr, uint32_t *ret)
{
    uint64_t block;

    if (s->ranged)
        return ml_order_take(&s->by_order, addr, ret);
    if (!ml_map_take(&s->by_addr, addr, &block))
        return false;
    *ret = (uint32_t)block;
    return true;
}

/* -1: none is live there. */
static int64_t find(const struct ml_window_blocks *w, const struct ml_window_space *s,
                    uint64_t addr)
{
    uint64_t block;

    if (s->ranged)
        return ml_window_ranges_find(w, s, addr);
    return ml_map_get(&s->by_addr, addr, &block) ? (int64_t)block : -1;
}

static int put(struct ml_window_blocks *w, struct ml_window_space *s, uint32_t block)
{
    const struct ml_window_block *b = &w->pool.items[block];
    uint32_t other;
    int r;

    if (s->ranged) {
        r = ml_window_ranges_close(w, s, b->addr, b->size);
        b = &w->pool.items[block];
        if (r == 0 && ml_order_take(&s->by_order, b->addr, &other)) { /* of zero bytes */
            ml_window_book_out(s, w->pool.items[other].size);
            ml_window_pool_drop(w, other);
        }
        return r < 0 ? r : ml_order_put(&s->by_order, b->addr, block);
    }
    if (take(s, b->addr, &other)) {
        ml_window_book_out(s, w->pool.items[other].size);
        ml_window_pool_drop(w, other);
    }
    return ml_map_put(&s->by_addr, b->addr, block);
}

/* ---- Moves ---------------------------------------------------------------- */

struct moved {
    int64_t block, move; /* -1: none */
};

static struct moved take_moved(struct ml_window_blocks *w, uint32_t thread)
{
    struct moved m = {-1, -1};
    uint64_t both;

    if (ml_map_take(&w->moved, thread, &both)) {
        m.block = (int64_t)(both & UINT32_MAX) - 1;
        m.move = (int64_t)(both >> 32) - 1;
    }
    return m;
}

static int keep_moved(struct ml_window_blocks *w, uint32_t thread, struct moved m)
{
    return ml_map_put(&w->moved, thread, (uint64_t)(m.move + 1) << 32 | (uint64_t)(m.block + 1));
}

static void drop_moved(struct ml_window_blocks *w, struct moved m)
{
    if (m.block >= 0)
        ml_window_pool_drop(w, (uint32_t)m.block);
    if (m.move >= 0)
        ml_window_pool_drop(w, (uint32_t)m.move);
}

static int on_move(struct ml_window_blocks *w, struct ml_window_space *s, const struct ml_event *e)
{
    struct ml_window_block move = {.addr = e->addr,
                                   .time_ns = e->time_ns,
                                   .space = e->space,
                                   .thread = e->thread,
                                   .scope = e->scope,
                                   .kind = ML_MOVE,
                                   .kept = true};
    struct moved m = {-1, -1};
    uint32_t block;

    drop_moved(w, take_moved(w, e->thread));
    if (take(s, e->addr, &block)) {
        m.block = block;
        ml_window_book_out(s, w->pool.items[block].size);
        s->frees++;
    }
    m.move = ml_window_pool_add(w, &move);
    return m.move < 0 ? -ENOMEM : keep_moved(w, e->thread, m);
}

/* The block is back, unless another is live in its place. */
static int on_move_failed(struct ml_window_blocks *w, struct ml_window_space *s,
                          const struct ml_event *e)
{
    struct moved m = take_moved(w, e->thread);
    const struct ml_window_block *b = m.block < 0 ? NULL : &w->pool.items[m.block];

    if (b && b->space == e->space && b->addr == e->addr && find(w, s, b->addr) < 0) {
        s->frees--;
        book_in(s, b, e->time_ns);
        if (put(w, s, (uint32_t)m.block) < 0)
            return -ENOMEM;
        m.block = -1;
    }
    drop_moved(w, m);
    return 0;
}

/* An allocation after a move is the same block at its new address, if it is in the same space: it
 * keeps its label. */
static ML_NOINLINE void finish_move(struct ml_window_blocks *w, struct ml_window_block *b)
{
    const struct ml_window_block *old;
    uint64_t both;

    if (!ml_map_get(&w->moved, b->thread, &both) || (both & UINT32_MAX) == 0)
        return;
    old = &w->pool.items[(both & UINT32_MAX) - 1];
    if (old->space != b->space)
        return;
    b->label = old->label;
    b->category = old->category;
    drop_moved(w, take_moved(w, b->thread));
}

/* ---- Events --------------------------------------------------------------- */

static int on_alloc(struct ml_window_blocks *w, struct ml_window_space *s, const struct ml_event *e)
{
    struct ml_window_block b = {
        .addr = e->addr,
        .size = e->size,
        .time_ns = e->time_ns,
        .space = e->space,
        .thread = e->thread,
        .scope = e->scope,
        .stack = e->stack,
        .kind = e->kind,
        .kept = true,
    };
    int64_t index;

    if (e->kind == ML_ALLOC_EX) {
        b.requested = e->args[0];
        b.stream = e->args[1];
    }
    if (ML_UNLIKELY(ml_map_len(&w->moved) > 0))
        finish_move(w, &b);
    index = ml_window_pool_add(w, &b);
    if (index < 0 || put(w, s, (uint32_t)index) < 0)
        return -ENOMEM;
    s->allocations++;
    s->allocated_bytes += e->size;
    book_in(s, &b, e->time_ns);
    return 0;
}

static void on_free(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr)
{
    uint32_t block;

    if (!take(s, addr, &block))
        return;
    ml_window_book_out(s, w->pool.items[block].size);
    ml_window_pool_drop(w, block);
    s->frees++;
}

static void on_label(struct ml_window_blocks *w, struct ml_window_space *s,
                     const struct ml_event *e)
{
    int64_t block = find(w, s, e->addr);
    struct ml_window_block *b = block < 0 ? NULL : &w->pool.items[block];

    if (!b || (e->args[1] == MEMLEDGER_OTHER && b->category != MEMLEDGER_OTHER))
        return;
    b->label = (uint32_t)e->args[0];
    b->category = (uint8_t)e->args[1];
}

static int feed(struct ml_window_blocks *w, const struct ml_event *e)
{
    struct ml_window_space *s = enter_space(w, e->space);

    if (!s)
        return -ENOMEM;
    switch (e->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX: return on_alloc(w, s, e);
    case ML_FREE: on_free(w, s, e->addr); return 0;
    case ML_FREE_RANGE: return ml_window_ranges_free(w, s, e->addr, e->size);
    case ML_MOVE: return on_move(w, s, e);
    case ML_MOVE_FAILED: return on_move_failed(w, s, e);
    default: on_label(w, s, e); return 0;
    }
}

int ml_window_blocks_feed(struct ml_window_blocks *w, const struct ml_event *event)
{
    int r;

    if (!ml_concerns_block(event->kind))
        return 0;
    r = feed(w, event);
    if (ML_UNLIKELY(r == 0 && w->pool.len > TIDY_LEAST && w->kept < w->pool.len / 2))
        r = ml_window_blocks_tidy(w);
    return r;
}

/* NULL: its blocks are in another kind of index, or there are none. */
static const struct ml_map *map_of(const struct ml_window_blocks *w, uint32_t space)
{
    return space < w->spaces.len && !w->spaces.items[space].ranged ? &w->spaces.items[space].by_addr
                                                                   : NULL;
}

static void prefetch_slot(const struct ml_window_blocks *w, uint32_t space, uint64_t addr)
{
    const struct ml_map *map = map_of(w, space);

    if (map)
        ml_map_prefetch(map, addr);
}

static void prefetch_block(const struct ml_window_blocks *w, const struct ml_event *e)
{
    const struct ml_map *map = e->kind == ML_FREE ? map_of(w, e->space) : NULL;
    uint64_t block;

    if (map && ml_map_get(map, e->addr, &block))
        __builtin_prefetch(&w->pool.items[block], 1);
}

void ml_window_blocks_prefetch(const struct ml_window_blocks *w, const struct ml_event *events,
                               size_t i, size_t count)
{
    if (w->pool.len < PREFETCH_LEAST)
        return;
    if (i + ML_WINDOW_PREFETCH < count)
        prefetch_slot(w, events[i + ML_WINDOW_PREFETCH].space, events[i + ML_WINDOW_PREFETCH].addr);
    if (i + ML_WINDOW_PREFETCH_BLOCK < count)
        prefetch_block(w, &events[i + ML_WINDOW_PREFETCH_BLOCK]);
}

void ml_window_blocks_end(struct ml_window_blocks *w, uint32_t space)
{
    if (space < w->spaces.len)
        w->spaces.items[space].ended = true;
}

/* ---- Tidying -------------------------------------------------------------- */

static void drop_ended(struct ml_window_blocks *w)
{
    for (size_t i = 0; i < w->pool.len; i++) {
        const struct ml_window_block *b = &w->pool.items[i];

        if (b->kept && b->kind != ML_MOVE && w->spaces.items[b->space].ended)
            ml_window_pool_drop(w, (uint32_t)i);
    }
    for (size_t i = 0; i < w->spaces.len; i++) {
        struct ml_window_space *s = &w->spaces.items[i];

        if (!s->ended)
            continue;
        ml_map_release(&s->by_addr);
        ml_order_release(&s->by_order);
        s->live_blocks = s->live_bytes = 0;
    }
}

/* The index of a live block, at its new place. A block that is being resized is in none. */
static int renumber(struct ml_window_blocks *w, uint32_t from, uint32_t to)
{
    const struct ml_window_block *b = &w->pool.items[to];
    struct ml_window_space *s = &w->spaces.items[b->space];
    int64_t block = b->kind == ML_MOVE ? -1 : find(w, s, b->addr);

    if (block != from)
        return 0;
    return s->ranged ? ml_order_put(&s->by_order, b->addr, to)
                     : ml_map_put(&s->by_addr, b->addr, to);
}

#define NOWHERE UINT32_MAX

/* An index + 1, or 0. */
static uint64_t new_place(const uint32_t *places, uint32_t index)
{
    return index && places[index - 1] != NOWHERE ? (uint64_t)places[index - 1] + 1 : 0;
}

/* Those of moves, of which there are few. */
static int renumber_moves(struct ml_window_blocks *w, const uint32_t *places)
{
    struct ml_map moved = {0};
    uint64_t thread, both;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && ml_map_next(&w->moved, &cursor, &thread, &both)) {
        both = new_place(places, (uint32_t)(both >> 32)) << 32 | new_place(places, (uint32_t)both);
        r = ml_map_put(&moved, thread, both);
    }
    ml_map_release(&w->moved);
    w->moved = moved;
    return r;
}

int ml_window_blocks_tidy(struct ml_window_blocks *w)
{
    uint32_t *places = malloc((w->pool.len + 1) * sizeof(*places));
    size_t to = 0;
    int r = places ? 0 : -ENOMEM;

    drop_ended(w);
    for (size_t from = 0; r == 0 && from < w->pool.len; from++) {
        if (from % BEAT_EVERY == 0)
            ml_heartbeat_raise(w->heartbeat);
        places[from] = w->pool.items[from].kept ? (uint32_t)to : NOWHERE;
        if (from + ML_WINDOW_PREFETCH < w->pool.len)
            prefetch_slot(w, w->pool.items[from + ML_WINDOW_PREFETCH].space,
                          w->pool.items[from + ML_WINDOW_PREFETCH].addr);
        if (places[from] == NOWHERE)
            continue;
        w->pool.items[to] = w->pool.items[from];
        r = renumber(w, (uint32_t)from, (uint32_t)to);
        to++;
    }
    if (r == 0) {
        w->pool.len = to;
        r = renumber_moves(w, places);
    }
    free(places);
    return r;
}
