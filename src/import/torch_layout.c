/* torch_layout.c: see torch_layout.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_layout.h"

#include <string.h>

/* Constants of PyTorch's allocator. */
#define LEAST_BYTES 512u
#define SMALL_BYTES (1u << 20) /* blocks up to this size have separate segments */

/* A limit, because each insertion moves the spans after it. */
#define SPANS_MOST 65536u

/* ---- Rounding ------------------------------------------------------------------ */

/* Rounds a size between two powers of two up to the next of that many steps. */
static uint64_t round_to_division(uint64_t size, uint64_t divisions)
{
    uint64_t power = (uint64_t)1 << (63 - __builtin_clzll(size)), step;

    if (size <= 4 || divisions <= 1)
        return size == power ? size : power * 2;
    step = power / divisions;
    return step ? (size + step - 1) / step * step : size;
}

static uint32_t divisions_for(const struct ml_torch_settings *settings, uint64_t size)
{
    unsigned i = 0;

    /* Intervals begin with 1 MiB; the first and the last are open-ended. */
    while (i + 1 < ML_TORCH_DIVISIONS && size >= (uint64_t)SMALL_BYTES << (i + 1))
        i++;
    return settings->divisions[i];
}

uint64_t ml_torch_rounded(const struct ml_torch_settings *settings, uint64_t size)
{
    uint32_t divisions;

    if (size < LEAST_BYTES)
        return LEAST_BYTES;
    if (size > INT64_MAX)
        return size;
    divisions = divisions_for(settings, size);
    if (divisions > 1 && size > (uint64_t)LEAST_BYTES * divisions)
        return round_to_division(size, divisions);
    return (size + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES;
}

/* ---- Spans in order of their start ------------------------------------------------ */

static size_t first_from(const struct ml_torch_spans *s, uint64_t addr)
{
    size_t low = 0, high = s->list.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->list.items[middle].start >= addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int put_span(struct ml_torch_layout *l, struct ml_torch_spans *s, uint64_t addr,
                    uint64_t size)
{
    size_t at = first_from(s, addr);
    struct ml_torch_span span = {addr, ml_end_of(addr, size)};

    if (at < s->list.len && s->list.items[at].start == addr) {
        s->list.items[at] = span;
        return 0;
    }
    if (s->list.len >= SPANS_MOST) {
        l->given_up = true;
        return 0;
    }
    if (ml_vec_reserve(&s->list, 1) < 0)
        return -ENOMEM;
    memmove(s->list.items + at + 1, s->list.items + at, (s->list.len - at) * sizeof(span));
    s->list.items[at] = span;
    s->list.len++;
    return 0;
}

static void drop_span(struct ml_torch_spans *s, uint64_t addr)
{
    size_t at = first_from(s, addr);

    if (at == s->list.len || s->list.items[at].start != addr)
        return;
    s->list.len--;
    memmove(s->list.items + at, s->list.items + at + 1,
            (s->list.len - at) * sizeof(*s->list.items));
}

/* ---- The layout ---------------------------------------------------------------------- */

int ml_torch_layout_add_segment(struct ml_torch_layout *l, uint64_t addr, uint64_t size)
{
    return put_span(l, &l->segments, addr, size);
}

void ml_torch_layout_remove_segment(struct ml_torch_layout *l, uint64_t addr)
{
    drop_span(&l->segments, addr);
}

int ml_torch_layout_add_block(struct ml_torch_layout *l, uint64_t addr, uint64_t bytes)
{
    return bytes > SMALL_BYTES ? put_span(l, &l->blocks, addr, bytes) : 0;
}

void ml_torch_layout_remove_block(struct ml_torch_layout *l, uint64_t addr)
{
    drop_span(&l->blocks, addr);
}

/* Free bytes from the address on, before the block there is allocated; 0: unknown. */
static uint64_t room_at(const struct ml_torch_layout *l, uint64_t addr)
{
    const struct ml_torch_span *segments = l->segments.list.items, *blocks = l->blocks.list.items;
    size_t at = first_from(&l->segments, addr + 1);
    uint64_t end;

    if (at == 0 || segments[at - 1].end <= addr)
        return 0;
    end = segments[at - 1].end;
    at = first_from(&l->blocks, addr);
    if (at < l->blocks.list.len && blocks[at].start < end)
        end = blocks[at].start;
    return end - addr;
}

uint64_t ml_torch_block_bytes(const struct ml_torch_layout *l, uint64_t addr, uint64_t size)
{
    uint64_t rounded = ml_torch_rounded(l->settings, size), room, limit;

    if (rounded <= SMALL_BYTES || l->given_up || addr == UINT64_MAX)
        return rounded;
    room = room_at(l, addr);
    limit = l->settings->max_split_bytes;
    if (room <= rounded)
        return rounded;
    if (room - rounded <= SMALL_BYTES || (limit && rounded >= limit))
        return room;
    return rounded;
}

void ml_torch_layout_release(struct ml_torch_layout *l)
{
    ml_vec_release(&l->segments.list);
    ml_vec_release(&l->blocks.list);
}
