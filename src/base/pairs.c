/* pairs.c: see pairs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pairs.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64u

/* Both halves are counters: two multiplications spread them. */
static size_t home_of(const struct ml_pairs *p, uint64_t value)
{
    value *= UINT64_C(0x9e3779b97f4a7c15);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(value >> 32) & (p->slot_count - 1);
}

/* The slot of the value, or the empty one where it would go. Precondition: there are slots. */
static uint32_t *slot_of(const struct ml_pairs *p, uint64_t value)
{
    size_t i = home_of(p, value);

    while (p->slots[i] && p->values.items[p->slots[i] - 1] != value)
        i = (i + 1) & (p->slot_count - 1);
    return &p->slots[i];
}

void ml_pairs_release(struct ml_pairs *pairs)
{
    ml_vec_release(&pairs->values);
    free(pairs->slots);
    *pairs = (struct ml_pairs){0};
}

int64_t ml_pairs_find(const struct ml_pairs *pairs, uint64_t value)
{
    uint32_t found = pairs->slots ? *slot_of(pairs, value) : 0;

    return found ? (int64_t)found - 1 : -ENOENT;
}

/* At most three quarters of the slots are used. */
static int grow(struct ml_pairs *p)
{
    struct ml_pairs next = {.values = p->values,
                            .slot_count = p->slot_count ? 2 * p->slot_count : FIRST_SLOTS};

    if (p->values.len < p->slot_count / 4 * 3)
        return 0;
    next.slots = calloc(next.slot_count, sizeof(*next.slots));
    if (!next.slots)
        return -ENOMEM;
    for (size_t i = 0; i < p->values.len; i++)
        *slot_of(&next, p->values.items[i]) = (uint32_t)i + 1;
    free(p->slots);
    *p = next;
    return 0;
}

int64_t ml_pairs_add(struct ml_pairs *pairs, uint64_t value)
{
    uint32_t number = (uint32_t)pairs->values.len;

    if (pairs->values.len == UINT32_MAX)
        return -EOVERFLOW;
    if (grow(pairs) || ml_vec_push(&pairs->values, value))
        return -ENOMEM;
    *slot_of(pairs, value) = number + 1;
    return number;
}

uint32_t ml_pairs_len(const struct ml_pairs *pairs)
{
    return (uint32_t)pairs->values.len;
}

bool ml_pairs_get(const struct ml_pairs *pairs, uint32_t number, uint64_t *ret_value)
{
    if (number >= pairs->values.len)
        return false;
    *ret_value = pairs->values.items[number];
    return true;
}
