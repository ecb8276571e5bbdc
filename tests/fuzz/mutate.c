/* mutate.c: random damage to bytes, the same for the same seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

/* splitmix64: any state is a good one, so that seeds can count up. */
uint64_t fuzz_next(struct fuzz_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

size_t fuzz_below(struct fuzz_random *r, size_t limit)
{
    return (size_t)(fuzz_next(r) % limit);
}

static void flip_bit(struct fuzz_random *r, struct ml_buf *b)
{
    b->data[fuzz_below(r, b->len)] ^= (uint8_t)(1u << fuzz_below(r, 8));
}

static void set_byte(struct fuzz_random *r, struct ml_buf *b)
{
    b->data[fuzz_below(r, b->len)] = (uint8_t)fuzz_next(r);
}

uint64_t fuzz_edge_number(struct fuzz_random *r)
{
    static const uint64_t numbers[] = {
        0,          1,          0x7f,       0x80,
        0xff,       0xffff,     0x10000,    0x7fffffff,
        0x80000000, 0xffffffff, 32u << 20,  (32u << 20) + 1,
        16777215,   16777216,   UINT64_MAX, UINT64_MAX >> 1,
    };

    return numbers[fuzz_below(r, sizeof(numbers) / sizeof(numbers[0]))];
}

static void set_number(struct fuzz_random *r, struct ml_buf *b)
{
    uint64_t v = fuzz_edge_number(r);
    size_t bytes = (size_t)1 << fuzz_below(r, 4), at = fuzz_below(r, b->len);

    for (size_t i = 0; i < bytes && at + i < b->len; i++)
        b->data[at + i] = (uint8_t)(v >> 8 * i);
}

static void cut_end(struct fuzz_random *r, struct ml_buf *b)
{
    b->len = fuzz_below(r, b->len + 1);
}

static void cut_out(struct fuzz_random *r, struct ml_buf *b)
{
    size_t at = fuzz_below(r, b->len), n = 1 + fuzz_below(r, b->len - at);

    if (n > 64 && fuzz_below(r, 2))
        n = 1 + n % 64;
    memmove(b->data + at, b->data + at + n, b->len - at - n);
    b->len -= n;
}

/* A piece of `other` over, or into, the bytes. */
static int splice(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other, size_t most)
{
    size_t from = fuzz_below(r, other->len), n = 1 + fuzz_below(r, other->len - from);
    size_t at = fuzz_below(r, b->len + 1);
    bool insert = fuzz_below(r, 2);

    if (insert ? b->len + n > most : at + n > b->len)
        return 0;
    if (insert) {
        if (ml_buf_reserve(b, n))
            return -ENOMEM;
        memmove(b->data + at + n, b->data + at, b->len - at);
        b->len += n;
    }
    memcpy(b->data + at, other->data + from, n);
    return 0;
}

static int damage_once(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other,
                       size_t most)
{
    switch (fuzz_below(r, 16)) {
    case 0: cut_end(r, b); return 0;
    case 1: cut_out(r, b); return 0;
    case 2:
    case 3: return splice(r, b, other, most);
    case 4:
    case 5:
    case 6: set_number(r, b); return 0;
    case 7:
    case 8:
    case 9: set_byte(r, b); return 0;
    default: flip_bit(r, b); return 0;
    }
}

int fuzz_damage(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other, size_t most)
{
    size_t times = 1 + fuzz_below(r, 6);
    int code = 0;

    while (!code && b->len && other->len && times--)
        code = damage_once(r, b, other, most);
    return code;
}
