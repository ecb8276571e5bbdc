/* live_table.c: see live_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_table.h"
#include "live_totals.h"

/* ---- The pool of blocks ------------------------------------------------ */

int64_t ml_live_entry(struct ml_replay *r)
{
    uint64_t index = r->free_block;

    if (ML_LIKELY(index > 0)) {
        r->free_block = r->blocks.items[index - 1].addr;
        return (int64_t)index - 1;
    }
    if (r->blocks.len >= UINT32_MAX || ml_vec_push(&r->blocks, (struct ml_block){0}) < 0)
        return -ENOMEM;
    return (int64_t)r->blocks.len - 1;
}

void ml_live_drop(struct ml_replay *r, uint32_t block)
{
    r->blocks.items[block].live = false;
    r->blocks.items[block].addr = r->free_block;
    r->free_block = (uint64_t)block + 1;
}

/* ---- Finding ----------------------------------------------------------- */

/* The place of the address in a space without ranges. The index must have slots. */
static ML_ALWAYS_INLINE struct ml_addr_place
place_of(const struct ml_replay *r, const struct ml_replay_space *s, uint64_t addr)
{
    return ml_addr_probe(&s->by_addr, &r->blocks.items[0].addr, sizeof(struct ml_block), addr);
}

static ML_ALWAYS_INLINE bool index_take(const struct ml_replay *r, struct ml_replay_space *s,
                                        uint64_t addr, uint32_t *ret)
{
    struct ml_addr_place place;

    if (ML_UNLIKELY(s->ranged))
        return ml_order_take(&s->by_order, addr, ret);
    if (ML_UNLIKELY(s->by_addr.used == 0))
        return false;
    place = place_of(r, s, addr);
    if (ML_UNLIKELY(!place.found))
        return false;
    ml_addr_clear(&s->by_addr, place.slot);
    *ret = place.block;
    return true;
}

int64_t ml_live_find(const struct ml_replay *r, uint32_t space, uint64_t addr)
{
    const struct ml_replay_space *s = &r->spaces.items[space];
    struct ml_order_entry entry;

    if (!s->ranged && s->by_addr.used > 0) {
        struct ml_addr_place place = place_of(r, s, addr);

        return place.found ? (int64_t)place.block : -1;
    }
    if (!ml_order_floor(&s->by_order, addr, &entry))
        return -1;
    if (entry.key != addr && ml_end_of(entry.key, r->blocks.items[entry.value].size) <= addr)
        return -1;
    return entry.value;
}

/* ---- In and out -------------------------------------------------------- */

/* For a block that left the books without being freed. */
static void take_back_free(struct ml_replay *r, struct ml_replay_space *s, const struct ml_block *b)
{
    uint64_t blocks = s->sampled_bytes ? ml_sampled_back(s, b->size) : 1;

    s->frees -= blocks;
    if (s->counted)
        r->categories[b->category].frees -= blocks;
}

void ml_live_close_replaced(struct ml_replay *r, struct ml_replay_space *s, uint32_t block,
                            const struct ml_event *event)
{
    struct ml_block *b = &r->blocks.items[block];

    if (r->on_close)
        r->on_close(r->ctx, b, event);
    ml_book_out(r, s, b);
    ml_live_paste(r, block, event->time_ns);
    take_back_free(r, s, b);
    r->replaced++;
    ml_live_drop(r, block);
}

/* Adds a block of the pool, whose address is set, to the index. A block that is live at that
 * address is replaced.
 * @return 0 or -ENOMEM */
static ML_ALWAYS_INLINE int index_put(struct ml_replay *r, struct ml_replay_space *s,
                                      uint32_t block, const struct ml_event *event)
{
    struct ml_addr_place place;

    if (ML_UNLIKELY(s->ranged)) {
        if (ml_live_replace_range(r, s, event) < 0)
            return -ENOMEM;
        return ml_order_put(&s->by_order, event->addr, block);
    }
    if (ML_UNLIKELY(ml_addr_reserve(&s->by_addr) < 0))
        return -ENOMEM;
    place = place_of(r, s, event->addr);
    ml_addr_fill(&s->by_addr, &place, block);
    if (ML_UNLIKELY(place.found))
        ml_live_close_replaced(r, s, place.block, event);
    return 0;
}

int ml_live_open(struct ml_replay *r, uint32_t space, const struct ml_event *event, uint32_t label,
                 uint8_t category)
{
    struct ml_replay_space *s = &r->spaces.items[space];
    int64_t index = ml_live_entry(r);
    uint32_t thread = ml_block_number(event->thread);
    struct ml_block *b;
    uint64_t made;

    if (index < 0 || index_put(r, s, (uint32_t)index, event) < 0)
        return -ENOMEM;
    if (ML_UNLIKELY(s->around > 0) && ml_live_cut(r, s, event, (uint32_t)index) < 0)
        return -ENOMEM;
    b = &r->blocks.items[index];
    *b = (struct ml_block){
        .addr = event->addr,
        .size = event->size,
        .time_ns = event->time_ns,
        .space = space,
        .category = category,
        .scope = ml_block_number(event->scope),
        .thread_low = thread & 0xff,
        .stack = ml_block_number(event->stack),
        .thread_middle = thread >> 8 & 0xff,
        .label = ml_block_number(label),
        .thread_high = thread >> 16,
    };
    made = ML_UNLIKELY(s->sampled_bytes) ? ml_sampled_made(r, s, event->size) : 1;
    s->allocations += made;
    s->allocated_bytes += event->size;
    if (s->counted)
        r->categories[category].allocations += made;
    ml_book_in(r, s, b, event->time_ns);
    if (ML_UNLIKELY(s->around > 0))
        ml_live_keep_peak(r, (uint32_t)index);
    if (ML_UNLIKELY(r->on_open))
        r->on_open(r->ctx, b);
    return 0;
}

int ml_live_adopt(struct ml_replay *r, const struct ml_block *block)
{
    struct ml_replay_space *s = &r->spaces.items[block->space];
    const struct ml_event event = {.addr = block->addr, .time_ns = block->time_ns};
    int64_t index;

    if (ml_live_find(r, block->space, block->addr) >= 0)
        return -EEXIST;
    index = ml_live_entry(r);
    if (index < 0 || index_put(r, s, (uint32_t)index, &event) < 0)
        return -ENOMEM;
    r->blocks.items[index] = *block;
    return 0;
}

int64_t ml_live_close(struct ml_replay *r, uint32_t space, const struct ml_event *event, bool keep)
{
    struct ml_replay_space *s = &r->spaces.items[space];
    uint32_t block;

    if (ML_UNLIKELY(!index_take(r, s, event->addr, &block)))
        return -1;
    if (r->on_close)
        r->on_close(r->ctx, &r->blocks.items[block], event);
    ml_book_out(r, s, &r->blocks.items[block]);
    ml_live_paste(r, block, event->time_ns);
    if (!keep)
        ml_live_drop(r, block);
    return block;
}

int ml_live_restore(struct ml_replay *r, uint32_t block, const struct ml_event *event)
{
    struct ml_block *b = &r->blocks.items[block];
    struct ml_replay_space *s = &r->spaces.items[b->space];

    if (ml_live_find(r, b->space, b->addr) >= 0) {
        ml_live_drop(r, block); /* another block is live there: this one stays freed */
        return 0;
    }
    if (index_put(r, s, block, event) < 0)
        return -ENOMEM;
    take_back_free(r, s, b);
    ml_book_in(r, s, b, event->time_ns);
    return 0;
}
