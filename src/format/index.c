/* index.c: bytes of the index block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "index.h"

#include <string.h>

#include "block.h"

uint8_t *ml_index_entry_put(uint8_t *out, const struct ml_index_entry *e, uint64_t previous_offset)
{
    out = ml_varint_put(out, e->type);
    out = ml_varint_put(out, e->offset - previous_offset);
    out = ml_varint_put(out, e->stored_bytes);
    out = ml_varint_put(out, e->first_ns);
    out = ml_varint_put(out, e->last_ns - e->first_ns);
    return ml_varint_put(out, e->events);
}

static const uint8_t *get_all(const uint8_t *in, const uint8_t *end, uint64_t *values, int n)
{
    for (int i = 0; in && i < n; i++)
        in = ml_varint_get(in, end, &values[i]);
    return in;
}

const uint8_t *ml_index_entry_get(const uint8_t *in, const uint8_t *end, uint64_t previous_offset,
                                  struct ml_index_entry *ret)
{
    uint64_t v[6];

    in = get_all(in, end, v, 6);
    if (!in || v[0] > UINT8_MAX || v[2] > ML_BLOCK_MAX_BYTES || v[5] > UINT32_MAX ||
        v[1] > INT64_MAX - previous_offset || v[4] > UINT64_MAX - v[3])
        return NULL;
    *ret = (struct ml_index_entry){
        .type = (uint8_t)v[0],
        .offset = previous_offset + v[1],
        .stored_bytes = (uint32_t)v[2],
        .first_ns = v[3],
        .last_ns = v[3] + v[4],
        .events = (uint32_t)v[5],
    };
    return in;
}

uint8_t *ml_index_totals_put(uint8_t *out, const struct ml_index_totals *t)
{
    out = ml_varint_put(out, ML_KIND_COUNT);
    for (int i = 0; i < ML_KIND_COUNT; i++)
        out = ml_varint_put(out, t->events[i]);
    return ml_varint_put(out, t->lost);
}

const uint8_t *ml_index_totals_get(const uint8_t *in, const uint8_t *end,
                                   struct ml_index_totals *ret)
{
    uint64_t n;

    memset(ret, 0, sizeof(*ret));
    in = ml_varint_get(in, end, &n);
    if (!in || n > 32)
        return NULL;
    in = get_all(in, end, ret->events, (int)n);
    return in ? ml_varint_get(in, end, &ret->lost) : NULL;
}
