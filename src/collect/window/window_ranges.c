/* window_ranges.c: see window_ranges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_ranges.h"

#include <errno.h>

static uint64_t end_of(uint64_t addr, uint64_t size)
{
    return size > UINT64_MAX - addr ? UINT64_MAX : addr + size;
}

static uint64_t end_of_block(const struct ml_window_blocks *w, uint32_t block)
{
    return end_of(w->pool.items[block].addr, w->pool.items[block].size);
}

int64_t ml_window_ranges_find(const struct ml_window_blocks *w, const struct ml_window_space *s,
                              uint64_t addr)
{
    struct ml_order_entry entry;

    if (!ml_order_floor(&s->by_order, addr, &entry))
        return -1;
    if (entry.key != addr && end_of_block(w, entry.value) <= addr)
        return -1;
    return entry.value;
}

static int make_ranged(struct ml_window_space *s)
{
    uint64_t addr, block;
    size_t cursor = 0;

    while (ml_map_next(&s->by_addr, &cursor, &addr, &block)) {
        if (ml_order_put(&s->by_order, addr, (uint32_t)block) < 0)
            return -ENOMEM;
    }
    ml_map_release(&s->by_addr);
    s->ranged = true;
    return 0;
}

/* Blocks that overlapped before the space had ranges may now start at the same address. Only one
 * is kept. */
static int put_at(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr,
                  uint32_t block)
{
    uint32_t other;

    if (ml_order_take(&s->by_order, addr, &other)) {
        ml_window_book_out(s, w->pool.items[other].size);
        ml_window_pool_drop(w, other);
    }
    return ml_order_put(&s->by_order, addr, block);
}

static void shrink(struct ml_window_blocks *w, struct ml_window_space *s, uint32_t block,
                   uint64_t size)
{
    s->live_bytes -= w->pool.items[block].size - size;
    w->pool.items[block].size = size;
}

/* The block starts before the range; a part after it becomes a block of its own. */
static int cut_tail(struct ml_window_blocks *w, struct ml_window_space *s, uint32_t block,
                    uint64_t from, uint64_t to)
{
    struct ml_window_block rest = w->pool.items[block];
    uint64_t end = end_of(rest.addr, rest.size);
    int64_t index;

    shrink(w, s, block, from - rest.addr);
    if (end <= to)
        return 0;
    rest.addr = to;
    rest.size = end - to;
    index = ml_window_pool_add(w, &rest);
    if (index < 0 || put_at(w, s, to, (uint32_t)index) < 0)
        return -ENOMEM;
    w->disordered = true;
    s->live_bytes += rest.size;
    s->live_blocks++;
    return 0;
}

/* The block starts in the range and ends after it. */
static int cut_head(struct ml_window_blocks *w, struct ml_window_space *s, uint32_t block,
                    uint64_t to)
{
    uint64_t end = end_of_block(w, block);
    uint32_t unused;

    ml_order_take(&s->by_order, w->pool.items[block].addr, &unused);
    if (put_at(w, s, to, block) < 0)
        return -ENOMEM;
    shrink(w, s, block, end - to);
    w->pool.items[block].addr = to;
    return 0;
}

int ml_window_ranges_close(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr,
                           uint64_t size)
{
    uint64_t from = addr, to = end_of(addr, size);
    struct ml_order_entry entry;
    uint32_t unused;

    if (from == to)
        return 0;
    if (ml_order_floor(&s->by_order, from, &entry) && entry.key < from &&
        end_of_block(w, entry.value) > from && cut_tail(w, s, entry.value, from, to) < 0)
        return -ENOMEM;
    while (ml_order_ceil(&s->by_order, from, &entry) && entry.key < to) {
        if (end_of_block(w, entry.value) <= to) {
            ml_order_take(&s->by_order, entry.key, &unused);
            ml_window_book_out(s, w->pool.items[entry.value].size);
            ml_window_pool_drop(w, entry.value);
        } else if (cut_head(w, s, entry.value, to) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

int ml_window_ranges_free(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr,
                          uint64_t size)
{
    uint64_t before = s->live_blocks;
    int r = s->ranged ? 0 : make_ranged(s);

    if (r == 0)
        r = ml_window_ranges_close(w, s, addr, size);
    if (s->live_blocks < before)
        s->frees += before - s->live_blocks;
    return r;
}
