/* live_ranges.c: spaces whose memory is freed in ranges: parts of blocks, or several blocks at
 * once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_table.h"
#include "live_totals.h"

int ml_live_make_ranged(struct ml_replay *r, struct ml_replay_space *s)
{
    for (size_t i = 0; s->by_addr.slots && i <= s->by_addr.mask; i++) {
        uint32_t block = s->by_addr.slots[i].block;

        if (block != 0 &&
            ml_order_put(&s->by_order, r->blocks.items[block - 1].addr, block - 1) < 0)
            return -ENOMEM;
    }
    ml_addr_release(&s->by_addr);
    s->ranged = true;
    return 0;
}

/* Limits the block's span to `span` bytes. Bytes cut from it stay cut, wherever they are; the
 * rest are its own. */
static void shrink(struct ml_replay *r, struct ml_replay_space *s, uint32_t block, uint64_t span)
{
    struct ml_block *b = &r->blocks.items[block];
    uint64_t cut = ml_span_of(r, block) - b->size;
    uint64_t size = span > cut ? ml_min_u64(span - cut, b->size) : 0;

    s->bytes.live_bytes -= b->size - size;
    ml_totals_remove(r, s, b, b->size - size);
    b->size = size;
}

/* Blocks that overlapped before the space had ranges may now start at the same address. Only one
 * is kept. */
static int put_at(struct ml_replay *r, struct ml_replay_space *s, uint64_t addr, uint32_t block,
                  const struct ml_event *event)
{
    uint32_t other;

    if (ml_order_take(&s->by_order, addr, &other))
        ml_live_close_replaced(r, s, other, event);
    return ml_order_put(&s->by_order, addr, block);
}

/* The part after a hole becomes a separate block. Its bytes are already in the totals. */
static int add_rest(struct ml_replay *r, struct ml_replay_space *s, uint32_t from,
                    struct ml_block rest, const struct ml_event *event)
{
    int64_t index = ml_live_entry(r);

    if (index < 0 || put_at(r, s, rest.addr, (uint32_t)index, event) < 0)
        return -ENOMEM;
    r->blocks.items[index] = rest;
    s->live_blocks++;
    r->splits++;
    if (r->on_split)
        r->on_split(r->ctx, &r->blocks.items[from], &r->blocks.items[index]);
    return 0;
}

/* The block starts before the range and ends inside or after it. */
static int cut_tail(struct ml_replay *r, struct ml_replay_space *s, uint32_t block,
                    const struct ml_event *event, uint64_t to)
{
    struct ml_block rest = r->blocks.items[block];
    uint64_t end = ml_end_of(rest.addr, ml_span_of(r, block)), head = event->addr - rest.addr;

    if (end <= to) {
        shrink(r, s, block, head);
        return 0;
    }
    shrink(r, s, block, head + (end - to));
    rest.addr = to;
    rest.size = ml_min_u64(end - to, r->blocks.items[block].size);
    r->blocks.items[block].size -= rest.size;
    return add_rest(r, s, block, rest, event);
}

/* The block starts in the range and ends after it. */
static int cut_head(struct ml_replay *r, struct ml_replay_space *s, uint32_t block,
                    const struct ml_event *event, uint64_t to)
{
    struct ml_block *b = &r->blocks.items[block];
    uint64_t end = ml_end_of(b->addr, ml_span_of(r, block));
    uint32_t unused;

    ml_order_take(&s->by_order, b->addr, &unused);
    if (put_at(r, s, to, block, event) < 0)
        return -ENOMEM;
    shrink(r, s, block, end - to);
    b->addr = to;
    return 0;
}

static void close_whole(struct ml_replay *r, struct ml_replay_space *s, uint32_t block,
                        const struct ml_event *event, bool replaced)
{
    struct ml_block *b = &r->blocks.items[block];
    uint32_t unused;

    ml_order_take(&s->by_order, b->addr, &unused);
    if (replaced) {
        ml_live_close_replaced(r, s, block, event);
        return;
    }
    if (r->on_close)
        r->on_close(r->ctx, b, event);
    ml_book_out(r, s, b);
    ml_live_paste(r, block, event->time_ns);
    ml_live_drop(r, block);
}

static int64_t close_range(struct ml_replay *r, struct ml_replay_space *s,
                           const struct ml_event *event, bool replaced)
{
    uint64_t from = event->addr, to = ml_end_of(from, event->size);
    struct ml_order_entry entry;
    int64_t touched = 0;

    if (from == to)
        return 0;
    if (ml_order_floor(&s->by_order, from, &entry) && entry.key < from &&
        ml_end_of(entry.key, ml_span_of(r, entry.value)) > from) {
        touched++;
        if (cut_tail(r, s, entry.value, event, to) < 0)
            return -ENOMEM;
    }
    while (ml_order_ceil(&s->by_order, from, &entry) && entry.key < to) {
        touched++;
        if (ml_end_of(entry.key, ml_span_of(r, entry.value)) <= to)
            close_whole(r, s, entry.value, event, replaced);
        else if (cut_head(r, s, entry.value, event, to) < 0)
            return -ENOMEM;
    }
    return touched;
}

int64_t ml_live_close_range(struct ml_replay *r, uint32_t space, const struct ml_event *event)
{
    struct ml_replay_space *s = &r->spaces.items[space];

    if (!s->ranged && ml_live_make_ranged(r, s) < 0)
        return -ENOMEM;
    return close_range(r, s, event, false);
}

int ml_live_replace_range(struct ml_replay *r, struct ml_replay_space *s,
                          const struct ml_event *event)
{
    uint32_t block;

    if (close_range(r, s, event, true) < 0)
        return -ENOMEM;
    if (ml_order_take(&s->by_order, event->addr, &block)) /* a block of zero bytes */
        ml_live_close_replaced(r, s, block, event);
    return 0;
}
