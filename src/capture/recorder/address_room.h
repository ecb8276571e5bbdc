/* address_room.h: how much address space the recorder may take when it is limited (RLIMIT_AS,
 * ulimit -v).
 *
 * A program that runs within a limit must also run within it while it is recorded. The recorder
 * does not know how much the program will need, so each part takes a small share of the space that
 * is left, or does without. Every mapping counts, touched or not. System calls only; keeps errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ADDRESS_ROOM_H
#define ML_ADDRESS_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* The address space that the limit still allows this process; UINT64_MAX: there is no limit. 0 when
 * no system calls are allowed: see filtered.h. */
uint64_t ml_address_room(void);

/* The share of it that one part of the recorder, a ring set or a table, may take. */
uint64_t ml_address_share(void);

/* Zeroed address space for a table of entries of `entry_bytes`: `wanted` of them, a power of two,
 * or a half, a quarter and so on, so that the table stays within the share. Only pages that are
 * written to take memory. NULL: there would be fewer than `least` entries, or there is no space. */
void *ml_address_table(uint32_t wanted, uint32_t least, size_t entry_bytes, uint32_t *ret_entries);

/* An array with `each` items per entry of a table. */
struct ml_table_array {
    size_t item_bytes;
    size_t each;
    void *ret_items;
};

/* The same for a table of several consecutive arrays. Precondition: those with the strictest
 * alignment come first. Sets ret_items of all.
 * @return the number of entries; 0 where ml_address_table returns NULL */
uint32_t ml_address_arrays(uint32_t wanted, uint32_t least, struct ml_table_array *arrays,
                           size_t count);

#endif
