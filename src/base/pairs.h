/* pairs.h: give each distinct 64-bit value a small number, in little memory.
 *
 * For the nodes of a tree, of which there may be millions: a parent and a part, in one value.
 * Numbers are dense: 0 for the first value, 1 for the second, and so on. A value takes 8 bytes and
 * its slot 5 to 11; intern.h takes 50 bytes for the same. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PAIRS_H
#define ML_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

/* All zero bytes is an empty table. */
struct ml_pairs {
    ML_VEC(uint64_t) values; /* by number */
    uint32_t *slots;         /* number + 1, 0: empty; open addressing, linear probing */
    size_t slot_count;       /* 0 or a power of two */
};

/* Frees everything and leaves an empty table. */
void ml_pairs_release(struct ml_pairs *pairs);

/* @return the number of the value, or -ENOENT */
int64_t ml_pairs_find(const struct ml_pairs *pairs, uint64_t value);

/* A number for a value that has none.
 * @return the number; -ENOMEM, or -EOVERFLOW when 2^32 - 1 numbers are in use: the table is then
 *         unchanged */
int64_t ml_pairs_add(struct ml_pairs *pairs, uint64_t value);

/* Values held; the next new one gets this number. */
uint32_t ml_pairs_len(const struct ml_pairs *pairs);

/* The value of a number. @return whether there is one */
bool ml_pairs_get(const struct ml_pairs *pairs, uint32_t number, uint64_t *ret_value);

#endif
