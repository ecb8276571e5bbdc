/* decode.c: reads the columns of an events block.
 *
 * Events are decoded a chunk at a time: first the next entries of each column are assembled
 * from their byte planes, in loops that compilers vectorize, then the events take from them. In
 * real traces it is unpredictable which columns an event takes from, so that step uses counts
 * and masks instead of branches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "decode.h"

#include <string.h>

/* @return the bytes up to the end of the last column, 0 if they are more than there are */
static size_t find_columns(struct ml_decoder *d, const uint8_t *raw, size_t raw_bytes, int columns,
                           size_t header_bytes)
{
    size_t used = header_bytes;

    if (raw_bytes < used)
        return 0;
    for (int i = 0; i < columns; i++) {
        uint32_t count = ml_load_u32(raw + 4 * i);
        if (count > raw_bytes)
            return 0;
        d->cols[i] = (struct ml_column_reader){raw + used, count, 0};
        used += (size_t)count * ml_column_entry_bytes[i];
        if (used > raw_bytes)
            return 0;
    }
    d->shift = ml_load_u32(raw + 4 * columns);
    return used;
}

int ml_decoder_init(struct ml_decoder *d, const struct ml_block_header *header, const uint8_t *raw,
                    struct ml_address_model *model)
{
    size_t used;

    memset(d, 0, sizeof(*d));
    if (header->layout == ML_LAYOUT_REFERENCES) {
        used = find_columns(d, raw, header->raw_bytes, ML_COLUMNS, ML_COLUMN_HEADER_BYTES);
        d->time_shift = used ? ml_load_u32(raw + 4 * (ML_COLUMNS + 1)) : 0;
        d->model = model;
        ml_address_model_reset(model);
    } else {
        used = find_columns(d, raw, header->raw_bytes, ML_COLUMNS_OF_LAYOUT_0,
                            ML_COLUMN_HEADER_BYTES_OF_LAYOUT_0);
    }
    d->time_ns = header->first_ns;
    d->last_ns = header->last_ns;
    if (!used || used != header->raw_bytes || d->shift > 63 || d->time_shift > 63 ||
        header->events > ML_BLOCK_MAX_EVENTS || d->cols[ML_COL_KINDS].count != header->events ||
        d->cols[ML_COL_TIMES].count != header->events)
        return -1;
    return 0;
}

#define CHUNK_EVENTS 256
#define CONTEXT_CHANGED (ML_THREAD_CHANGED | ML_SPACE_CHANGED | ML_SCOPE_CHANGED)

/* The next entries of the columns that most events take from, 0 past the end of a column, and
 * how many were taken. */
struct chunk {
    uint32_t times[CHUNK_EVENTS];
    uint32_t addrs[CHUNK_EVENTS];
    uint32_t sizes[CHUNK_EVENTS];
    uint32_t stacks[CHUNK_EVENTS];
    uint32_t alloc_refs[CHUNK_EVENTS];
    uint32_t free_refs[CHUNK_EVENTS];
    uint32_t alloc_refs_taken;
    uint32_t free_refs_taken;
    uint32_t addrs_taken;
    uint32_t sizes_taken;
    uint32_t stacks_taken;
};

static void stage(const struct ml_column_reader *c, uint32_t *restrict out, uint32_t n)
{
    uint32_t left = c->next < c->count ? c->count - c->next : 0;
    uint32_t there = left < n ? left : n;
    const uint8_t *p0 = c->data + c->next;
    const uint8_t *p1 = p0 + c->count;
    const uint8_t *p2 = p1 + c->count;
    const uint8_t *p3 = p2 + c->count;

    for (uint32_t i = 0; i < there; i++)
        out[i] =
            (uint32_t)p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24;
    memset(out + there, 0, (n - there) * sizeof(*out));
}

/* Reading past the end of a column yields 0 and leaves next > count, which the caller checks
 * once per chunk instead of once per value. */
static inline uint32_t take_u32(struct ml_column_reader *c)
{
    const uint8_t *at = c->data + c->next;
    size_t n = c->count;

    if (ML_UNLIKELY(c->next++ >= n))
        return 0;
    return (uint32_t)at[0] | (uint32_t)at[n] << 8 | (uint32_t)at[2 * n] << 16 |
           (uint32_t)at[3 * n] << 24;
}

static uint64_t take_wide(struct ml_column_reader *c)
{
    uint32_t i = c->next++;

    return i < c->count ? ml_load_u64(c->data + 8 * (size_t)i) : 0;
}

static uint64_t take_arg(struct ml_column_reader *c)
{
    const uint8_t *end = c->data + c->count;
    const uint8_t *at = c->data + (c->next < c->count ? c->next : c->count);
    uint64_t value = 0;
    const uint8_t *after = ml_varint_get(at, end, &value);

    if (!after) {
        c->next = c->count + 1;
        return 0;
    }
    c->next = (uint32_t)(after - c->data);
    return value;
}

static inline void take_context(struct ml_decoder *d, uint8_t kind)
{
    if (kind & ML_THREAD_CHANGED)
        d->thread = take_u32(&d->cols[ML_COL_THREADS]);
    if (kind & ML_SPACE_CHANGED)
        d->space = take_u32(&d->cols[ML_COL_SPACES]);
    if (kind & ML_SCOPE_CHANGED)
        d->scope = take_u32(&d->cols[ML_COL_SCOPES]);
}

static inline int take_time(struct ml_decoder *d, uint32_t entry)
{
    uint64_t delta = entry;

    if (ML_UNLIKELY(entry == ML_WIDE_MARK))
        delta = take_wide(&d->cols[ML_COL_WIDE_TIMES]);
    if (ML_UNLIKELY(delta > (d->last_ns - d->time_ns) >> d->time_shift))
        return -1;
    d->time_ns += delta << d->time_shift;
    return 0;
}

/* @has  1 when the event has an address, else 0 */
static inline uint64_t take_addr(struct ml_decoder *d, struct chunk *ch, uint32_t has)
{
    uint64_t *previous = &d->previous[d->space % ML_PREVIOUS_ADDRS];
    uint64_t mask = 0 - (uint64_t)has;
    uint64_t entry = ch->addrs[ch->addrs_taken] & mask;

    if (ML_UNLIKELY(entry == ML_WIDE_MARK))
        entry = take_wide(&d->cols[ML_COL_WIDE_ADDRS]);
    ch->addrs_taken += has;
    *previous += (uint64_t)ml_unzigzag(entry) << d->shift;
    return *previous & mask;
}

static inline uint64_t take_size(struct ml_decoder *d, struct chunk *ch, uint32_t has)
{
    uint32_t entry = ch->sizes[ch->sizes_taken] & (0 - has);

    ch->sizes_taken += has;
    return ML_UNLIKELY(entry == ML_WIDE_MARK) ? take_wide(&d->cols[ML_COL_WIDE_SIZES]) : entry;
}

static inline uint32_t take_stack(struct chunk *ch, uint32_t has)
{
    uint32_t entry = ch->stacks[ch->stacks_taken] & (0 - has);

    ch->stacks_taken += has;
    return entry;
}

/* In layout 1, 0 stands for the last size from this stack, and others are one more than the size.
 */
static inline uint64_t take_guessed_size(struct ml_decoder *d, struct chunk *ch, uint32_t stack)
{
    uint64_t *last = ml_model_last_size(d->model, stack);
    uint32_t entry = ch->sizes[ch->sizes_taken++];

    if (ML_UNLIKELY(entry == ML_WIDE_MARK))
        *last = take_wide(&d->cols[ML_COL_WIDE_SIZES]);
    else if (entry)
        *last = entry - 1;
    return *last;
}

static inline uint64_t take_explicit(struct ml_decoder *d)
{
    uint64_t *previous = &d->previous[d->space % ML_PREVIOUS_ADDRS];
    uint64_t entry = take_u32(&d->cols[ML_COL_ADDRS]);

    if (ML_UNLIKELY(entry == ML_WIDE_MARK))
        entry = take_wide(&d->cols[ML_COL_WIDE_ADDRS]);
    *previous += (uint64_t)ml_unzigzag(entry) << d->shift;
    return *previous;
}

static inline int take_alloc_addr(struct ml_decoder *d, struct chunk *ch, struct ml_event *ev)
{
    uint32_t ref = ch->alloc_refs[ch->alloc_refs_taken++];
    uint64_t room_bytes = ml_room_bytes(ev->size);

    if (ref == ML_REF_EXPLICIT)
        ev->addr = take_explicit(d);
    else if (!ml_model_alloc_addr(d->model, ref, d->thread, room_bytes, &ev->addr))
        return -1;
    ml_model_add_alloc(d->model, ref, d->thread, room_bytes, ev->addr);
    return 0;
}

static inline int take_free_addr(struct ml_decoder *d, struct chunk *ch, struct ml_event *ev)
{
    uint32_t ref = ch->free_refs[ch->free_refs_taken++];
    const struct ml_model_block in_full = {0}, *block = &in_full;

    if (ref > d->model->allocs)
        return -1;
    if (ref != ML_REF_EXPLICIT)
        block = &d->model->blocks[d->model->allocs - ref];
    ev->addr = ref == ML_REF_EXPLICIT ? take_explicit(d) : block->addr;
    if (ml_frees_block(ev->kind))
        ml_model_add_free(d->model, d->thread, ev->addr, block->room_bytes);
    return 0;
}

/* Address and size of layout 1. The stack of the event is known. */
static inline int take_guessed(struct ml_decoder *d, struct chunk *ch, uint32_t bits,
                               struct ml_event *ev)
{
    ev->size = bits & ML_HAS_SIZE ? take_guessed_size(d, ch, ev->stack) : 0;
    ev->addr = 0;
    if (!(bits & ML_HAS_ADDR))
        return 0;
    return bits & ML_HAS_STACK ? take_alloc_addr(d, ch, ev) : take_free_addr(d, ch, ev);
}

static inline int take_event(struct ml_decoder *d, struct chunk *ch, uint8_t kind, uint32_t time,
                             struct ml_event *ev)
{
    const struct ml_shape *shape = &ml_shapes[kind & ML_KIND_MASK];
    uint32_t bits = shape->bits;

    if (ML_UNLIKELY(!shape->name) || take_time(d, time))
        return -1;
    if (kind & CONTEXT_CHANGED)
        take_context(d, kind);
    ev->time_ns = d->time_ns;
    ev->thread = d->thread;
    ev->space = d->space;
    ev->scope = d->scope;
    ev->stack = take_stack(ch, bits / ML_HAS_STACK & 1);
    ev->kind = kind & ML_KIND_MASK;
    memset(ev->args, 0, sizeof(ev->args));
    for (int i = 0; i < shape->args; i++)
        ev->args[i] = take_arg(&d->cols[ML_COL_ARGS]);
    if (d->model)
        return take_guessed(d, ch, bits, ev);
    ev->addr = take_addr(d, ch, bits & ML_HAS_ADDR);
    ev->size = take_size(d, ch, bits / ML_HAS_SIZE & 1);
    return 0;
}

static void advance(struct ml_decoder *d, const struct chunk *ch, uint32_t n)
{
    d->cols[ML_COL_KINDS].next += n;
    d->cols[ML_COL_TIMES].next += n;
    d->cols[ML_COL_ADDRS].next += ch->addrs_taken;
    d->cols[ML_COL_SIZES].next += ch->sizes_taken;
    d->cols[ML_COL_ALLOC_REFS].next += ch->alloc_refs_taken;
    d->cols[ML_COL_FREE_REFS].next += ch->free_refs_taken;
    if (d->cols[ML_COL_STACKS].count)
        d->cols[ML_COL_STACKS].next += ch->stacks_taken;
}

/* Checks that no column was read past its end; at the end of the block, also that all are used
 * up and that the time equals the header's. */
static int check_columns(const struct ml_decoder *d)
{
    const struct ml_column_reader *kinds = &d->cols[ML_COL_KINDS];
    int at_end = kinds->next == kinds->count;

    for (int i = 0; i < ML_COLUMNS; i++) {
        const struct ml_column_reader *c = &d->cols[i];
        if (c->next > c->count || (at_end && c->next < c->count))
            return -1;
    }
    return at_end && d->time_ns != d->last_ns ? -1 : 0;
}

static int decode_chunk(struct ml_decoder *d, struct ml_event *events, uint32_t n)
{
    const uint8_t *kinds = d->cols[ML_COL_KINDS].data + d->cols[ML_COL_KINDS].next;
    struct chunk ch;

    stage(&d->cols[ML_COL_TIMES], ch.times, n);
    stage(&d->cols[ML_COL_SIZES], ch.sizes, n);
    stage(&d->cols[ML_COL_STACKS], ch.stacks, n);
    if (d->model) {
        stage(&d->cols[ML_COL_ALLOC_REFS], ch.alloc_refs, n);
        stage(&d->cols[ML_COL_FREE_REFS], ch.free_refs, n);
    } else {
        stage(&d->cols[ML_COL_ADDRS], ch.addrs, n);
    }
    ch.addrs_taken = ch.sizes_taken = ch.stacks_taken = 0;
    ch.alloc_refs_taken = ch.free_refs_taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (take_event(d, &ch, kinds[i], ch.times[i], &events[i]))
            return -1;
    }
    advance(d, &ch, n);
    return check_columns(d);
}

int ml_decoder_next(struct ml_decoder *d, struct ml_event *events, int room)
{
    const struct ml_column_reader *kinds = &d->cols[ML_COL_KINDS];
    int done = 0;

    while (done < room && kinds->next < kinds->count) {
        uint32_t left = kinds->count - kinds->next;
        uint32_t n = left < CHUNK_EVENTS ? left : CHUNK_EVENTS;

        if (n > (uint32_t)(room - done))
            n = (uint32_t)(room - done);
        if (decode_chunk(d, events + done, n))
            return -1;
        done += (int)n;
    }
    return done;
}
