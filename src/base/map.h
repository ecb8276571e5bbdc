/* map.h: a hash map from a 64-bit key to a 64-bit value.
 *
 * Made for the table of live allocations, which maps an address to a number: each entry is
 * inserted once and removed once, and millions are live. Open addressing with linear probing,
 * one 16-byte slot per entry so that most operations touch one cache line; removal moves the
 * following entries back, so there are no tombstones and the table does not decay. Any key is
 * allowed, 0 too.
 *
 * Keys are spread well for addresses and counters at any stride, but the hash is not secret: an
 * adversary who chooses the keys can make the map slow. Not thread-safe; readers may share a
 * map that does not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_MAP_H
#define ML_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_map_slot {
    uint64_t key; /* 0: empty; the entry with key 0 is kept outside the slots */
    uint64_t value;
};

struct ml_map {
    struct ml_map_slot *slots; /* NULL until the first put */
    size_t mask;               /* slots - 1, a power of two minus one */
    size_t used;               /* slots taken */
    size_t limit;              /* grow when used reaches it */
    unsigned shift;            /* 64 - log2(slots) */
    bool has_zero;             /* whether key 0 is present */
    uint64_t zero_value;       /* its value */
};

/* An empty map; allocates nothing. All zero bytes is a valid empty map too. */
void ml_map_init(struct ml_map *map);

/* Frees the memory and leaves an empty map that can be used again. */
void ml_map_release(struct ml_map *map);

/* Removes every entry and keeps the memory. Time grows with the capacity. */
void ml_map_clear(struct ml_map *map);

/* Insert, or replace the value of a key that is present.
 * @return 0, or -ENOMEM with the map unchanged */
int ml_map_put(struct ml_map *map, uint64_t key, uint64_t value);

/* @ret_value  set when the key is present; may be NULL
 * @return whether the key is present */
bool ml_map_get(const struct ml_map *map, uint64_t key, uint64_t *ret_value);

/* Find and remove. Never fails, never allocates, does not shrink the memory.
 * @ret_value  set when the key was present; may be NULL
 * @return whether the key was present */
bool ml_map_take(struct ml_map *map, uint64_t key, uint64_t *ret_value);

/* Tells the processor that the slot of the key will be needed soon: a map larger than the cache
 * waits for memory otherwise. */
void ml_map_prefetch(const struct ml_map *map, uint64_t key);

/* Entries present. */
size_t ml_map_len(const struct ml_map *map);

/* Visit every entry once, in no particular order:
 *
 *     size_t cursor = 0;
 *     while (ml_map_next(&map, &cursor, &key, &value)) ...
 *
 * The map must not change in between, except that put may replace the value of
 * a present key.
 * @ret_key, @ret_value  set when true is returned; may be NULL
 * @return whether there was another entry */
bool ml_map_next(const struct ml_map *map, size_t *cursor, uint64_t *ret_key, uint64_t *ret_value);

#endif
