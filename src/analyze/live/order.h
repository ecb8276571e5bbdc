/* order.h: a map from a 64-bit key to a number that keeps its keys in order.
 *
 * For spaces whose memory is given back in ranges, where a block must be found
 * by an address inside it. Sorted chunks of up to 256 entries: a search is two
 * binary searches, a change moves at most one chunk, and no order of insertion
 * makes it slow. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ORDER_H
#define ML_ANALYZE_ORDER_H

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

/* All zero bytes is a valid empty one. */
void ml_order_init(struct ml_order *order);
void ml_order_release(struct ml_order *order);

/* Insert, or replace the value of a key that is present.
 * @return 0, or -ENOMEM with nothing changed */
int ml_order_put(struct ml_order *order, uint64_t key, uint32_t value);

/* Find and remove. @return whether the key was present */
bool ml_order_take(struct ml_order *order, uint64_t key, uint32_t *ret_value);

/* The entry with the largest key that is not above `key`.
 * @return false when there is none */
bool ml_order_floor(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret);

/* The entry with the smallest key that is not below `key`.
 * @return false when there is none */
bool ml_order_ceil(const struct ml_order *order, uint64_t key, struct ml_order_entry *ret);

#endif
