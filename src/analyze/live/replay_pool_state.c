/* replay_pool_state.c: the blocks of a live table as bytes; see replay_state.h.
 *
 * Values of one sort are adjacent, as in an events block: the index, the kind and, for blocks, the
 * fields of each entry that differs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "live_table.h"
#include "number_rows.h"
#include "replay_state.h"
#include "state_tags.h"
#include "varint.h"

enum kind {
    FREE, /* the entry is in the chain of free ones */
    LIVE,
    MOVED, /* kept for the end of a resize */
    KINDS,
};

enum column {
    COL_INDEX, /* less that of the entry before, less 1 */
    COL_KIND,
    COL_NEXT, /* of free entries: the next one, as a difference to this one's index */
    COL_ADDR, /* of the others, like all that follow: difference to the one before */
    COL_SIZE,
    COL_TIME, /* difference to the one before */
    COL_SPACE,
    COL_CATEGORY,
    COL_SCOPE,
    COL_THREAD,
    COL_STACK,
    COL_LABEL,
    COLUMNS,
};

/* The address and time that the next difference refers to. */
struct previous {
    uint64_t index; /* + 1 */
    uint64_t addr, time_ns;
};

/* In a copy of the pool `gone` marks an entry that is kept for the end of a resize. */
static enum kind kind_of(const struct ml_block *copy)
{
    return copy->live ? LIVE : copy->gone ? MOVED : FREE;
}

/* ---- Writing ------------------------------------------------------------- */

/* An entry without leftovers of the block that it had before. */
static struct ml_block copy_of(const struct ml_replay *r, const struct ml_map *kept, size_t i)
{
    struct ml_block copy = r->blocks.items[i];

    copy.gone = !copy.live && ml_map_len(kept) > 0 && ml_map_get(kept, i, NULL);
    return copy.live || copy.gone ? copy : (struct ml_block){.addr = copy.addr};
}

static int find_kept(const struct ml_replay *r, struct ml_map *ret)
{
    uint64_t block;
    size_t cursor = 0;

    while (ml_map_next(&r->moved, &cursor, NULL, &block))
        if (block < r->blocks.len && ml_map_put(ret, block, 1) < 0)
            return -ENOMEM;
    return 0;
}

static uint64_t difference(uint64_t value, uint64_t before)
{
    return ml_zigzag((int64_t)(value - before));
}

static int put_block(struct ml_buf *columns, const struct ml_block *b, struct previous *previous)
{
    const uint64_t values[COLUMNS] = {
        [COL_ADDR] = difference(b->addr, previous->addr),
        [COL_SIZE] = b->size,
        [COL_TIME] = difference(b->time_ns, previous->time_ns),
        [COL_SPACE] = b->space,
        [COL_CATEGORY] = b->category,
        [COL_SCOPE] = b->scope,
        [COL_THREAD] = ml_block_thread(b),
        [COL_STACK] = b->stack,
        [COL_LABEL] = b->label,
    };
    int r = 0;

    for (int i = COL_ADDR; r == 0 && i < COLUMNS; i++)
        r = ml_number_put(&columns[i], values[i]);
    previous->addr = b->addr;
    previous->time_ns = b->time_ns;
    return r;
}

static int put_entry(struct ml_buf *columns, size_t index, const struct ml_block *copy,
                     struct previous *previous)
{
    int r = ml_number_put(&columns[COL_INDEX], index - previous->index);

    if (r == 0)
        r = ml_number_put(&columns[COL_KIND], kind_of(copy));
    previous->index = index + 1;
    if (r < 0)
        return r;
    return kind_of(copy) == FREE ? ml_number_put(&columns[COL_NEXT], difference(copy->addr, index))
                                 : put_block(columns, copy, previous);
}

static int put_columns(struct ml_buf *columns, uint64_t pool, uint64_t count, struct ml_buf *out)
{
    struct ml_buf body = {0};
    int r = ml_number_put(&body, pool);

    if (r == 0)
        r = ml_number_put(&body, count);
    for (int i = 0; r == 0 && i < COLUMNS; i++) {
        r = ml_number_put(&body, columns[i].len);
        if (r == 0 && columns[i].len > 0)
            r = ml_buf_append(&body, columns[i].data, columns[i].len);
    }
    if (r == 0)
        r = ml_record_put(out, ML_STATE_BLOCKS, body.data, body.len);
    ml_buf_release(&body);
    return r;
}

/* @return the number of entries that differ, or -ENOMEM */
static int64_t put_entries(const struct ml_replay *r, const struct ml_map *kept,
                           ml_block_pool *before, struct ml_buf *columns)
{
    struct previous previous = {0};
    int64_t count = 0;

    for (size_t i = 0; i < r->blocks.len; i++) {
        struct ml_block copy = copy_of(r, kept, i);

        if (i < before->len && memcmp(&copy, &before->items[i], sizeof(copy)) == 0)
            continue;
        if (put_entry(columns, i, &copy, &previous) < 0)
            return -ENOMEM;
        if (i < before->len)
            before->items[i] = copy;
        else if (ml_vec_push(before, copy) < 0)
            return -ENOMEM;
        count++;
    }
    return count;
}

int ml_replay_put_blocks(const struct ml_replay *replay, ml_block_pool *before, struct ml_buf *out)
{
    struct ml_buf columns[COLUMNS] = {0};
    struct ml_map kept = {0};
    int64_t count = find_kept(replay, &kept);

    if (count == 0)
        count = put_entries(replay, &kept, before, columns);
    if (count >= 0)
        count = put_columns(columns, replay->blocks.len, (uint64_t)count, out);
    for (int i = 0; i < COLUMNS; i++)
        ml_buf_release(&columns[i]);
    ml_map_release(&kept);
    return count < 0 ? (int)count : 0;
}

/* ---- Reading ------------------------------------------------------------- */

struct column_bytes {
    const uint8_t *in, *end;
};

static bool take(struct column_bytes *column, uint64_t *ret)
{
    column->in = ml_varint_get(column->in, column->end, ret);
    if (!column->in)
        column->in = column->end; /* so that a further number fails as well */
    else
        return true;
    return false;
}

static bool get_block(struct column_bytes *columns, enum kind kind, struct previous *previous,
                      struct ml_block *ret)
{
    uint64_t v[COLUMNS];

    for (int i = COL_ADDR; i < COLUMNS; i++)
        if (!take(&columns[i], &v[i]))
            return false;
    if (v[COL_SIZE] > ML_BYTES_MAX || v[COL_CATEGORY] >= ML_CATEGORIES)
        return false;
    for (int i = COL_SPACE; i < COLUMNS; i++)
        if (v[i] >= ML_ID_MAX)
            return false;
    previous->addr += (uint64_t)ml_unzigzag(v[COL_ADDR]);
    previous->time_ns += (uint64_t)ml_unzigzag(v[COL_TIME]);
    *ret = (struct ml_block){
        .addr = previous->addr,
        .size = v[COL_SIZE],
        .time_ns = previous->time_ns,
        .space = v[COL_SPACE] & (ML_ID_MAX - 1),
        .category = v[COL_CATEGORY] & 0x3f,
        .live = kind == LIVE,
        .gone = kind == MOVED,
        .scope = v[COL_SCOPE] & (ML_ID_MAX - 1),
        .thread_low = v[COL_THREAD] & 0xff,
        .stack = v[COL_STACK] & (ML_ID_MAX - 1),
        .thread_middle = v[COL_THREAD] >> 8 & 0xff,
        .label = v[COL_LABEL] & (ML_ID_MAX - 1),
        .thread_high = v[COL_THREAD] >> 16 & 0xff,
    };
    return true;
}

static bool get_entry(struct column_bytes *columns, enum kind kind, struct previous *previous,
                      struct ml_block *ret)
{
    uint64_t next;

    if (kind != FREE)
        return get_block(columns, kind, previous, ret);
    if (!take(&columns[COL_NEXT], &next))
        return false;
    *ret = (struct ml_block){.addr = previous->index + (uint64_t)ml_unzigzag(next)};
    return true;
}

/* Stores an entry in the pool. Entries that lengthen it follow each other. */
static int store(struct ml_replay *r, uint64_t index, const struct ml_block *entry)
{
    if (index > r->blocks.len)
        return -EBADMSG;
    if (index == r->blocks.len)
        return ml_vec_push(&r->blocks, *entry);
    r->blocks.items[index] = *entry;
    return 0;
}

static int get_entries(struct ml_replay *r, struct column_bytes *columns, uint64_t count)
{
    struct previous previous = {0};
    uint64_t gap, kind;
    int result = 0;

    while (result == 0 && count-- > 0) {
        struct ml_block entry;

        if (!take(&columns[COL_INDEX], &gap) || !take(&columns[COL_KIND], &kind) || kind >= KINDS ||
            gap > UINT32_MAX)
            return -EBADMSG;
        previous.index += gap;
        if (!get_entry(columns, (enum kind)kind, &previous, &entry))
            return -EBADMSG;
        result = store(r, previous.index, &entry);
        previous.index++;
    }
    return result;
}

static int get_columns(struct ml_replay *r, const struct ml_record *record)
{
    struct column_bytes columns[COLUMNS];
    const uint8_t *in = record->in;
    uint64_t pool, count, len;
    int result;

    in = ml_varint_get(in, record->end, &pool);
    if (in)
        in = ml_varint_get(in, record->end, &count);
    for (int i = 0; in && i < COLUMNS; i++) {
        in = ml_varint_get(in, record->end, &len);
        if (!in || len > (size_t)(record->end - in))
            return -EBADMSG;
        columns[i] = (struct column_bytes){in, in + len};
        in += len;
    }
    if (!in || pool > UINT32_MAX)
        return -EBADMSG;
    result = get_entries(r, columns, count);
    return result == 0 && r->blocks.len != pool ? -EBADMSG : result;
}

int ml_replay_get_blocks(struct ml_replay *replay, const uint8_t *in, const uint8_t *end)
{
    struct ml_record record;
    int more;

    while ((more = ml_record_next(&in, end, &record)) > 0)
        if (record.tag == ML_STATE_BLOCKS)
            return get_columns(replay, &record);
    return -EBADMSG;
}

/* ---- Finding blocks again -------------------------------------------------- */

static int index_block(struct ml_replay *r, uint32_t block)
{
    const struct ml_block *b = &r->blocks.items[block];
    struct ml_replay_space *s = &r->spaces.items[b->space];
    struct ml_order_entry entry;
    struct ml_addr_place place;

    if (s->ranged) {
        if (ml_order_floor(&s->by_order, b->addr, &entry) && entry.key == b->addr)
            return -EBADMSG;
        return ml_order_put(&s->by_order, b->addr, block);
    }
    if (ml_addr_reserve(&s->by_addr) < 0)
        return -ENOMEM;
    place = ml_addr_probe(&s->by_addr, &r->blocks.items[0].addr, sizeof(*b), b->addr);
    if (place.found)
        return -EBADMSG;
    ml_addr_fill(&s->by_addr, &place, block);
    return 0;
}

bool ml_replay_is_moving(const struct ml_replay *replay)
{
    uint64_t block;
    size_t cursor = 0;

    while (ml_map_next(&replay->moved, &cursor, NULL, &block))
        if (block != UINT64_MAX)
            return true;
    return false;
}

int ml_replay_put_back(struct ml_replay *replay, const struct ml_block *block)
{
    int64_t index;

    if (replay->spaces.items[block->space].ranged)
        return -EBADMSG;
    index = ml_live_entry(replay);
    if (index < 0)
        return -ENOMEM;
    replay->blocks.items[index] = *block;
    return index_block(replay, (uint32_t)index);
}

/* The chain of free entries leads through each of them once. */
static bool is_chain_whole(const struct ml_replay *r, size_t free_entries)
{
    uint64_t next = r->free_block;

    while (next > 0) {
        if (next > r->blocks.len || free_entries-- == 0 ||
            kind_of(&r->blocks.items[next - 1]) != FREE)
            return false;
        next = r->blocks.items[next - 1].addr;
    }
    return free_entries == 0;
}

/* Takes the mark of a kept entry away. Each has a thread that is moving it. */
static bool check_moves(struct ml_replay *r, size_t kept)
{
    uint64_t block;
    size_t cursor = 0;

    while (ml_map_next(&r->moved, &cursor, NULL, &block)) {
        if (block == UINT64_MAX)
            continue;
        if (block >= r->blocks.len || !r->blocks.items[block].gone)
            return false;
        r->blocks.items[block].gone = false;
        kept--;
    }
    return kept == 0;
}

static bool are_cuts_inside(const struct ml_replay *r)
{
    uint64_t from, to;
    size_t cursor = 0;

    while (ml_map_next(&r->cut_from, &cursor, &from, &to))
        if (from >= r->blocks.len || to >= r->blocks.len)
            return false;
    return true;
}

int ml_replay_find_again(struct ml_replay *replay)
{
    size_t entries[KINDS] = {0};

    for (size_t i = 0; i < replay->blocks.len; i++) {
        enum kind kind = kind_of(&replay->blocks.items[i]);
        int r;

        entries[kind]++;
        if (kind != FREE && replay->blocks.items[i].space >= replay->spaces.len)
            return -EBADMSG;
        r = kind == LIVE ? index_block(replay, (uint32_t)i) : 0;
        if (r < 0)
            return r;
    }
    if (!is_chain_whole(replay, entries[FREE]) || !check_moves(replay, entries[MOVED]) ||
        !are_cuts_inside(replay))
        return -EBADMSG;
    return 0;
}
