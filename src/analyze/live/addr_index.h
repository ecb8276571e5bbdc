/* addr_index.h: maps an address to the live block there.
 *
 * A replay does one lookup per event, so this is a specialized ml_map: 8 bytes a slot instead of
 * 16, one probe to find an entry or insert it, all of it inline. The address itself stays in the
 * block. A slot has 32 bits of its hash, which give the slot's home and rule out nearly all other
 * addresses.
 *
 *     31            0 31            0
 *     +--------------+--------------+
 *     |  hash, high  | block + 1    |   0: empty
 *     +--------------+--------------+
 *
 * Linear probing; removal moves later entries back. A small index is at most half full, which is
 * fastest. A large one is at most three quarters full: it is larger than the cache, so another
 * slot of the same line costs little and memory matters more. Like ml_map it does not resist an
 * adversary who chooses the addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ADDR_INDEX_H
#define ML_ANALYZE_ADDR_INDEX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "compiler.h"

#define ML_ADDR_BITS_MIN 6
#define ML_ADDR_BITS_MAX 32
#define ML_ADDR_BITS_SMALL 20 /* 8 MiB */

struct ml_addr_slot {
    uint32_t tag;
    uint32_t block; /* + 1 */
};

/* All zero bytes is a valid empty index. */
struct ml_addr_index {
    struct ml_addr_slot *slots;
    size_t mask;
    size_t used;
    size_t limit;   /* grow when used reaches it */
    unsigned shift; /* 32 - log2(slots) */
};

/* Where a lookup ended: at the block's slot, or at the empty slot to insert it in. */
struct ml_addr_place {
    size_t slot;
    uint32_t tag;
    bool found;
    uint32_t block; /* when found */
};

static ML_ALWAYS_INLINE uint32_t ml_addr_tag(uint64_t addr)
{
    return (uint32_t)((addr * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline void ml_addr_release(struct ml_addr_index *index)
{
    free(index->slots);
    *index = (struct ml_addr_index){0};
}

/* Prefetches the slot of an address, in an index that has slots. */
static ML_ALWAYS_INLINE void ml_addr_prefetch(const struct ml_addr_index *index, uint64_t addr)
{
    __builtin_prefetch(&index->slots[ml_addr_tag(addr) >> index->shift]);
}

/* The block that an address most likely has, by its hash alone: no memory but the slot is read, in
 * an index that has slots.
 * @return false if the slot has another one, or none */
static ML_ALWAYS_INLINE bool ml_addr_guess(const struct ml_addr_index *index, uint64_t addr,
                                           uint32_t *ret)
{
    uint32_t tag = ml_addr_tag(addr);
    const struct ml_addr_slot *slot = &index->slots[tag >> index->shift];

    *ret = slot->block - 1;
    return slot->tag == tag && slot->block != 0;
}

static ML_NOINLINE int ml_addr_grow(struct ml_addr_index *index)
{
    unsigned bits = index->slots ? 32 - index->shift + 1 : ML_ADDR_BITS_MIN;
    struct ml_addr_index next = {.used = index->used, .shift = 32 - bits};

    if (bits > ML_ADDR_BITS_MAX)
        return -ENOMEM;
    next.mask = ((size_t)1 << bits) - 1;
    next.limit = bits <= ML_ADDR_BITS_SMALL ? next.mask / 2 : next.mask / 4 * 3;
    next.slots = calloc(next.mask + 1, sizeof(*next.slots));
    if (!next.slots)
        return -ENOMEM;
    for (size_t i = 0; index->slots && i <= index->mask; i++) {
        size_t to = index->slots[i].tag >> next.shift;

        if (index->slots[i].block == 0)
            continue;
        while (next.slots[to].block != 0)
            to = (to + 1) & next.mask;
        next.slots[to] = index->slots[i];
    }
    free(index->slots);
    *index = next;
    return 0;
}

/* Makes room for one more entry. @return 0 or -ENOMEM */
static ML_ALWAYS_INLINE int ml_addr_reserve(struct ml_addr_index *index)
{
    if (ML_LIKELY(index->used < index->limit))
        return 0;
    return ml_addr_grow(index);
}

/* Looks an address up in an index that has slots. `addrs` is the address field of block 0; those
 * of the other blocks follow every `stride` bytes. */
static ML_ALWAYS_INLINE struct ml_addr_place ml_addr_probe(const struct ml_addr_index *index,
                                                           const uint64_t *addrs, size_t stride,
                                                           uint64_t addr)
{
    struct ml_addr_place place = {.tag = ml_addr_tag(addr)};
    const struct ml_addr_slot *slot;

    place.slot = place.tag >> index->shift;
    while ((slot = &index->slots[place.slot])->block != 0) {
        size_t at = (size_t)(slot->block - 1) * stride;

        if (slot->tag == place.tag && *(const uint64_t *)((const char *)addrs + at) == addr) {
            place.found = true;
            place.block = slot->block - 1;
            break;
        }
        place.slot = (place.slot + 1) & index->mask;
    }
    return place;
}

static ML_ALWAYS_INLINE void ml_addr_fill(struct ml_addr_index *index,
                                          const struct ml_addr_place *place, uint32_t block)
{
    index->slots[place->slot] = (struct ml_addr_slot){.tag = place->tag, .block = block + 1};
    index->used += !place->found;
}

/* Empties a slot. Later entries of the same run move back into the hole unless their home is
 * after it. */
static ML_ALWAYS_INLINE void ml_addr_clear(struct ml_addr_index *index, size_t hole)
{
    struct ml_addr_slot *slots = index->slots;
    size_t mask = index->mask;

    for (size_t i = (hole + 1) & mask; slots[i].block != 0; i = (i + 1) & mask) {
        size_t home = slots[i].tag >> index->shift;

        if (((i - home) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].block = 0;
    index->used--;
}

#endif
