/* pointer_table.h: maps pointers of the program to numbers, without malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_POINTER_TABLE_H
#define ML_POINTER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "owner_lock.h"

#define ML_POINTERS_MAX ((1u << 20) / 4 * 3) /* fewer in little address space */

struct ml_pointer_slot {
    const void *pointer; /* NULL: never used, a search ends here */
    uint64_t number;     /* 0: removed */
};

/* Starts zeroed. Any thread may call anything here. */
struct ml_pointer_table {
    struct ml_pointer_slot *slots;
    uint32_t count; /* of slots, a power of two */
    uint32_t used;  /* slots with a pointer, removed ones included */
    struct ml_owner_lock lock;
};

/* Stores a number, not 0, and replaces an earlier one.
 * @return whether it was stored: false beyond ML_POINTERS_MAX entries, and for a signal handler
 *         that interrupted its own thread in the table */
bool ml_pointer_put(struct ml_pointer_table *t, const void *pointer, uint64_t number);

/* 0: the pointer has no number. */
uint64_t ml_pointer_get(struct ml_pointer_table *t, const void *pointer);

/* The same, and removes it. */
uint64_t ml_pointer_take(struct ml_pointer_table *t, const void *pointer);

#endif
