/* map.c: see map.h.
 *
 * Invariant: between an entry's home slot and the slot it is in, no slot is
 * empty. A lookup may therefore stop at the first empty slot, put takes that
 * slot, and take must close the gap it leaves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

#define FIRST_BITS 4 /* log2 of the slots that the first put allocates */

/* Two multiplications and a fold. One would do for most addresses, but for each
 * multiplier some strides between blocks of equal size put all keys side by
 * side: hundreds of probes where there should be two. */
static ML_ALWAYS_INLINE size_t home_of(const struct ml_map *map, uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(key >> map->shift);
}

/* The slot of the key, or the empty slot where it would go. Needs slots, one of
 * them empty, and key != 0. */
static ML_ALWAYS_INLINE size_t probe(const struct ml_map *map, uint64_t key)
{
    const struct ml_map_slot *slots = map->slots;
    size_t i = home_of(map, key);

    while (slots[i].key != key && slots[i].key != 0)
        i = (i + 1) & map->mask;
    return i;
}

void ml_map_init(struct ml_map *map)
{
    *map = (struct ml_map){0};
}

void ml_map_release(struct ml_map *map)
{
    free(map->slots);
    ml_map_init(map);
}

void ml_map_clear(struct ml_map *map)
{
    if (map->used > 0)
        memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
    map->used = 0;
    map->has_zero = false;
}

/* Move every entry into twice the slots, at most 5/8 of which will be used. */
static ML_NOINLINE int grow(struct ml_map *map)
{
    unsigned bits = map->slots ? 64 - map->shift + 1 : FIRST_BITS;
    struct ml_map next = *map;
    size_t count;

    if (bits > sizeof(size_t) * 8 - 5) /* slots of 16 bytes */
        return -ENOMEM;
    count = (size_t)1 << bits;
    next.slots = calloc(count, sizeof(*next.slots));
    if (!next.slots)
        return -ENOMEM;
    next.mask = count - 1;
    next.limit = count / 2 + count / 8;
    next.shift = 64 - bits;
    for (size_t i = 0; map->slots && i <= map->mask; i++)
        if (map->slots[i].key != 0)
            next.slots[probe(&next, map->slots[i].key)] = map->slots[i];
    free(map->slots);
    *map = next;
    return 0;
}

static int put_zero(struct ml_map *map, uint64_t value)
{
    map->has_zero = true;
    map->zero_value = value;
    return 0;
}

/* Put when the table is full; a key that is present still needs no memory. */
static ML_NOINLINE int put_growing(struct ml_map *map, uint64_t key, uint64_t value)
{
    int r;

    if (map->slots) {
        struct ml_map_slot *slot = &map->slots[probe(map, key)];

        if (slot->key == key) {
            slot->value = value;
            return 0;
        }
    }
    r = grow(map);
    return r < 0 ? r : ml_map_put(map, key, value);
}

int ml_map_put(struct ml_map *map, uint64_t key, uint64_t value)
{
    struct ml_map_slot *slot;

    if (ML_UNLIKELY(key == 0))
        return put_zero(map, value);
    if (ML_UNLIKELY(map->used >= map->limit))
        return put_growing(map, key, value);
    slot = &map->slots[probe(map, key)];
    map->used += slot->key == 0;
    slot->key = key;
    slot->value = value;
    return 0;
}

static bool get_zero(const struct ml_map *map, uint64_t *ret_value)
{
    if (map->has_zero && ret_value)
        *ret_value = map->zero_value;
    return map->has_zero;
}

bool ml_map_get(const struct ml_map *map, uint64_t key, uint64_t *ret_value)
{
    const struct ml_map_slot *slot;

    if (ML_UNLIKELY(key == 0))
        return get_zero(map, ret_value);
    if (ML_UNLIKELY(map->used == 0))
        return false;
    slot = &map->slots[probe(map, key)];
    if (slot->key == 0)
        return false;
    if (ret_value)
        *ret_value = slot->value;
    return true;
}

/* Empty the slot `hole` and restore the invariant: an entry further on in the same run moves
 * into the hole unless its home is after the hole. */
static ML_ALWAYS_INLINE void close_hole(struct ml_map *map, size_t hole)
{
    struct ml_map_slot *slots = map->slots;
    size_t mask = map->mask;

    for (size_t i = (hole + 1) & mask; slots[i].key != 0; i = (i + 1) & mask) {
        size_t from_home = (i - home_of(map, slots[i].key)) & mask;
        size_t from_hole = (i - hole) & mask;

        if (from_home >= from_hole) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].key = 0;
}

static bool take_zero(struct ml_map *map, uint64_t *ret_value)
{
    bool had = get_zero(map, ret_value);

    map->has_zero = false;
    return had;
}

bool ml_map_take(struct ml_map *map, uint64_t key, uint64_t *ret_value)
{
    size_t i;

    if (ML_UNLIKELY(key == 0))
        return take_zero(map, ret_value);
    if (ML_UNLIKELY(map->used == 0))
        return false;
    i = probe(map, key);
    if (map->slots[i].key == 0)
        return false;
    if (ret_value)
        *ret_value = map->slots[i].value;
    close_hole(map, i);
    map->used--;
    return true;
}

void ml_map_prefetch(const struct ml_map *map, uint64_t key)
{
    if (map->slots)
        __builtin_prefetch(&map->slots[home_of(map, key)], 1);
}

size_t ml_map_len(const struct ml_map *map)
{
    return map->used + map->has_zero;
}

static bool tell(uint64_t key, uint64_t value, uint64_t *ret_key, uint64_t *ret_value)
{
    if (ret_key)
        *ret_key = key;
    if (ret_value)
        *ret_value = value;
    return true;
}

/* Cursor 0 denotes the entry with key 0, cursor i + 1 slot i. */
bool ml_map_next(const struct ml_map *map, size_t *cursor, uint64_t *ret_key, uint64_t *ret_value)
{
    if (*cursor == 0) {
        *cursor = 1;
        if (map->has_zero)
            return tell(0, map->zero_value, ret_key, ret_value);
    }
    while (map->slots && *cursor <= map->mask + 1) {
        const struct ml_map_slot *slot = &map->slots[(*cursor)++ - 1];

        if (slot->key != 0)
            return tell(slot->key, slot->value, ret_key, ret_value);
    }
    return false;
}
