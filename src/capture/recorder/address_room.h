/* address_room.h: how much address space the recorder may take where that is limited
 * (RLIMIT_AS, ulimit -v).
 *
 * A program that runs in a limit by itself shall run in it when it is recorded. What it will
 * need is not known, so each part of the recorder takes a small share of what is left, or does
 * without. Whatever is mapped counts, touched or not. System calls only; keeps errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ADDRESS_ROOM_H
#define ML_ADDRESS_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* What the limit still allows this process; UINT64_MAX: there is no limit. 0 where no system
 * calls are allowed: see filtered.h. */
uint64_t ml_address_room(void);

/* What one part of the recorder, a ring set or a table, may take of it. */
uint64_t ml_address_share(void);

/* Zeroed address space for a table of entries with `entry_bytes`: `wanted` of them, a power of
 * two, or a half, a quarter and so on, so that the table is within the share. It costs memory
 * where it is written to. NULL: there would be fewer than `least`, or there is no room. */
void *ml_address_table(uint32_t wanted, uint32_t least, size_t entry_bytes, uint32_t *ret_entries);

/* An array that has `each` items for an entry of a table. */
struct ml_table_array {
    size_t item_bytes;
    size_t each;
    void *ret_items;
};

/* The same for a table of several arrays that lie one behind the other: those with the strictest
 * alignment come first. Sets ret_items of all.
 * @return the number of entries; 0: as NULL above */
uint32_t ml_address_arrays(uint32_t wanted, uint32_t least, struct ml_table_array *arrays,
                           size_t count);

#endif
