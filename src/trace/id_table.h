/* id_table.h: entries of one size, found by their number.
 *
 * An array that grows with the highest number put; numbers that were never put read as the
 * table's blank entry. Not thread-safe; readers may share a table that does not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_ID_TABLE_H
#define ML_TRACE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct ml_id_table {
    uint8_t *items;
    size_t len, cap;
    size_t item_bytes;
    const void *blank; /* the value of a number without an entry */
};

/* An empty table; allocates nothing. `blank` must outlive it. */
void ml_id_table_init(struct ml_id_table *table, size_t item_bytes, const void *blank);
void ml_id_table_release(struct ml_id_table *table);

/* Append a copy of `item` as number `id`, which must not be below len; numbers
 * left out become blank.
 * @return 0, or -ENOMEM with the table unchanged */
int ml_id_table_put(struct ml_id_table *table, uint32_t id, const void *item);

/* @return the entry, or the blank one; never NULL */
static inline const void *ml_id_table_get(const struct ml_id_table *table, uint32_t id)
{
    return id < table->len ? table->items + id * table->item_bytes : table->blank;
}

/* The entry, to change it; NULL when there is none. */
static inline void *ml_id_table_at(struct ml_id_table *table, uint32_t id)
{
    return id < table->len ? table->items + id * table->item_bytes : NULL;
}

#endif
