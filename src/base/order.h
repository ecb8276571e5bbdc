/* order.h: a sorted map from a 64-bit key to a number.
 *
 * Used for spaces whose memory is freed in ranges, where a block must be found by an address
 * inside it. Entries are in sorted chunks of up to 256: a search is two binary searches, a change
 * moves at most one chunk, and no order of insertion makes it slow. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_ORDER_H
#define ML_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

struct ml_order_chunk;

struct ml_order_slot {
    struct ml_order_chunk *chunk;
};

struct ml_order {
    ML_VEC(struct ml_order_slot) chunks; /* none is empty */
    size_t len;
};

struct ml_order_entry {
    uint64_t key;
    uint32_t value;
};

/* All zero bytes is a valid empty map. */
void ml_order_init(struct ml_order *order);
void ml_order_release(struct ml_order *order);

/* Inserts a key, or replaces its value. @return 0, or -ENOMEM with nothing changed */
int ml_order_put(struct ml_order *order, uint64_t key, uint32_t value);

/* Finds and removes a key. @return whether it was present */
bool ml_order_take(struct ml_order *order, uint64_t key, uint32_t *ret_value);

/* The entry with the largest key up to `key`. @return false when there is none */
bool ml_order_floor(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret);

/* The entry with the smallest key from `key` on. @return false when there is none */
bool ml_order_ceil(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret);

#endif
