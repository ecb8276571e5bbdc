/* encode.c: lays the columns of an events block out as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "encode.h"

#include <string.h>

void ml_encoder_init(struct ml_encoder *e)
{
    memset(e, 0, offsetof(struct ml_encoder, kinds));
    e->args_end = e->args;
}

/* Compilers vectorize this loop, but not one pass per plane. */
static uint8_t *put_planes(uint8_t *restrict out, const uint32_t *restrict values, uint32_t n)
{
    uint8_t *restrict p0 = out;
    uint8_t *restrict p1 = out + n;
    uint8_t *restrict p2 = out + 2 * (size_t)n;
    uint8_t *restrict p3 = out + 3 * (size_t)n;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = values[i];
        p0[i] = (uint8_t)v;
        p1[i] = (uint8_t)(v >> 8);
        p2[i] = (uint8_t)(v >> 16);
        p3[i] = (uint8_t)(v >> 24);
    }
    return out + 4 * (size_t)n;
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, size_t n)
{
    memcpy(out, bytes, n);
    return out + n;
}

/* Address differences as they are stored: shifted, zigzag, 32 bits where that
 * is enough. Returns the number of wide entries. */
static uint32_t fold_addrs(struct ml_encoder *e, unsigned shift)
{
    uint32_t wides = 0;

    for (uint32_t i = 0; i < e->addrs; i++) {
        uint64_t folded = ml_zigzag(e->addr_col[i] >> shift);
        if (ML_UNLIKELY(folded >= ML_WIDE_MARK)) {
            e->wide_addr_col[wides++] = folded;
            folded = ML_WIDE_MARK;
        }
        e->folded_col[i] = (uint32_t)folded;
    }
    return wides;
}

size_t ml_encoder_write(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret)
{
    unsigned shift = e->addr_bits ? (unsigned)__builtin_ctzll(e->addr_bits) : 0;
    uint32_t args_bytes = (uint32_t)(e->args_end - e->args);
    uint32_t stacks = e->any_stack ? e->stacks : 0;
    uint32_t wide_addrs = fold_addrs(e, shift);
    uint32_t counts[ML_COLUMNS + 1] = {
        e->events, e->events,  e->addrs,      e->sizes,   e->threads,    e->spaces, e->scopes,
        stacks,    args_bytes, e->wide_times, wide_addrs, e->wide_sizes, shift,
    };
    uint8_t *p = out;

    if (!e->events)
        return 0;
    for (int i = 0; i <= ML_COLUMNS; i++, p += 4)
        ml_store_u32(p, counts[i]);
    p = put_bytes(p, e->kinds, e->events);
    p = put_planes(p, e->time_col, e->events);
    p = put_planes(p, e->folded_col, e->addrs);
    p = put_planes(p, e->size_col, e->sizes);
    p = put_planes(p, e->thread_col, e->threads);
    p = put_planes(p, e->space_col, e->spaces);
    p = put_planes(p, e->scope_col, e->scopes);
    p = put_planes(p, e->stack_col, stacks);
    p = put_bytes(p, e->args, args_bytes);
    p = put_bytes(p, e->wide_time_col, 8 * (size_t)e->wide_times);
    p = put_bytes(p, e->wide_addr_col, 8 * (size_t)wide_addrs);
    p = put_bytes(p, e->wide_size_col, 8 * (size_t)e->wide_sizes);

    ret->first_ns = e->first_ns;
    ret->last_ns = e->last_ns;
    ret->events = e->events;
    return (size_t)(p - out);
}

size_t ml_encoder_finish(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret)
{
    size_t bytes = ml_encoder_write(e, out, ret);

    ml_encoder_init(e);
    return bytes;
}
