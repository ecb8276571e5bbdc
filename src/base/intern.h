/* intern.h: give each distinct byte string a small number.
 *
 * Numbers are dense: 0 for the first string, 1 for the second, and so on, so they can index
 * arrays. Strings are copied and may contain any bytes. The pointer for a number stays valid
 * until the table is released. Not thread-safe; readers may share a table that does not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_INTERN_H
#define ML_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "vec.h"

struct ml_intern_entry {
    const char *bytes; /* in the arena, NUL-terminated */
    size_t len;
};

struct ml_intern_slot {
    uint32_t id_plus_one; /* 0: empty */
    uint32_t hash;        /* low half of the hash: selects the slot, avoids most comparisons */
};

struct ml_intern {
    struct ml_arena arena;
    ML_VEC(struct ml_intern_entry) entries; /* by number */
    struct ml_intern_slot *slots;           /* open addressing, linear probing */
    size_t slot_count;                      /* 0 or a power of two */
};

/* An empty table; allocates nothing. All zero bytes is a valid one too. */
void ml_intern_init(struct ml_intern *intern);

/* Frees everything, the strings too, and leaves an empty table. */
void ml_intern_release(struct ml_intern *intern);

/* The number of these bytes, a new one if the table does not contain them. `bytes` may be NULL
 * when len is 0.
 * @ret_new  set on success: whether the number is new; may be NULL
 * @return the number; -ENOMEM, or -EOVERFLOW when 2^32 - 1 numbers are in use: the table is
 *         then unchanged */
int64_t ml_intern_put(struct ml_intern *intern, const void *bytes, size_t len, bool *ret_new);

/* @return the number of these bytes, or -ENOENT */
int64_t ml_intern_find(const struct ml_intern *intern, const void *bytes, size_t len);

/* The bytes of a number, NUL-terminated.
 * @ret_len  set on success; may be NULL
 * @return owned by the table; NULL when no string has this number */
const char *ml_intern_get(const struct ml_intern *intern, uint32_t id, size_t *ret_len);

/* Strings held; the next new one gets this number. */
uint32_t ml_intern_len(const struct ml_intern *intern);

#endif
