/* encode.c: lays the columns of an events block out as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "encode.h"

#include <string.h>

const uint8_t ml_column_entry_bytes[ML_COLUMNS] = {1, 4, 4, 4, 4, 4, 4, 4, 1, 8, 8, 8, 4, 4};

void ml_encoder_init(struct ml_encoder *e)
{
    uint32_t time_shift = e->time_shift;

    memset(e, 0, offsetof(struct ml_encoder, kinds));
    e->time_shift = time_shift;
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

size_t ml_encoder_write(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret)
{
    unsigned shift = e->addr_bits ? (unsigned)__builtin_ctzll(e->addr_bits) : 0;
    uint32_t args_bytes = (uint32_t)(e->args_end - e->args);
    uint32_t stacks = e->any_stack ? e->stacks : 0;
    const struct ml_packed_columns *packed = &e->packed;
    uint8_t *p = out;

    if (!e->events)
        return 0;
    ml_pack_columns(e, shift);
    const uint32_t header[ML_COLUMNS + 2] = {
        [ML_COL_KINDS] = e->events,
        [ML_COL_TIMES] = e->events,
        [ML_COL_ADDRS] = packed->addrs.count,
        [ML_COL_SIZES] = e->sizes,
        [ML_COL_THREADS] = e->threads,
        [ML_COL_SPACES] = e->spaces,
        [ML_COL_SCOPES] = e->scopes,
        [ML_COL_STACKS] = stacks,
        [ML_COL_ARGS] = args_bytes,
        [ML_COL_WIDE_TIMES] = packed->times.wide_count,
        [ML_COL_WIDE_ADDRS] = packed->addrs.wide_count,
        [ML_COL_WIDE_SIZES] = packed->sizes.wide_count,
        [ML_COL_ALLOC_REFS] = packed->alloc_refs,
        [ML_COL_FREE_REFS] = packed->free_refs,
        [ML_COLUMNS] = shift,
        [ML_COLUMNS + 1] = e->time_shift,
    };
    for (int i = 0; i < ML_COLUMNS + 2; i++, p += 4)
        ml_store_u32(p, header[i]);
    p = put_bytes(p, e->kinds, e->events);
    p = put_planes(p, packed->times.entries, e->events);
    p = put_planes(p, packed->addrs.entries, packed->addrs.count);
    p = put_planes(p, packed->sizes.entries, e->sizes);
    p = put_planes(p, e->thread_col, e->threads);
    p = put_planes(p, e->space_col, e->spaces);
    p = put_planes(p, e->scope_col, e->scopes);
    p = put_planes(p, e->stack_col, stacks);
    p = put_bytes(p, e->args, args_bytes);
    p = put_bytes(p, packed->times.wide, 8 * (size_t)packed->times.wide_count);
    p = put_bytes(p, packed->addrs.wide, 8 * (size_t)packed->addrs.wide_count);
    p = put_bytes(p, packed->sizes.wide, 8 * (size_t)packed->sizes.wide_count);
    p = put_planes(p, packed->alloc_ref_col, packed->alloc_refs);
    p = put_planes(p, packed->free_ref_col, packed->free_refs);

    ret->layout = ML_LAYOUT_REFERENCES;
    ret->first_ns = e->first_ns >> e->time_shift << e->time_shift;
    ret->last_ns = e->last_ns >> e->time_shift << e->time_shift;
    ret->events = e->events;
    return (size_t)(p - out);
}

size_t ml_encoder_finish(struct ml_encoder *e, uint8_t *out, struct ml_block_header *ret)
{
    size_t bytes = ml_encoder_write(e, out, ret);

    ml_encoder_init(e);
    return bytes;
}
