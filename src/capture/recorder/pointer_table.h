/* pointer_table.h: a number for each of many pointers of the program's, without malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_POINTER_TABLE_H
#define ML_POINTER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "owner_lock.h"

#define ML_POINTERS_MAX ((1u << 20) / 4 * 3) /* fewer where there is little address space */

struct ml_pointer_slot {
    const void *pointer; /* NULL: never used, a search ends here */
    uint64_t number;     /* 0: it is gone */
};

/* Starts zeroed. Any thread may call anything here. */
struct ml_pointer_table {
    struct ml_pointer_slot *slots;
    uint32_t count; /* of slots, a power of two */
    uint32_t used;  /* slots that have a pointer, also of what is gone */
    struct ml_owner_lock lock;
};

/* The number is not 0; one that the pointer had before is forgotten.
 * @return whether it is kept: not one more than ML_POINTERS_MAX, and none from a signal
 *         handler that finds its thread in the table */
bool ml_pointer_put(struct ml_pointer_table *t, const void *pointer, uint64_t number);

/* 0: it has none. */
uint64_t ml_pointer_get(struct ml_pointer_table *t, const void *pointer);

/* The same, and forgets it. */
uint64_t ml_pointer_take(struct ml_pointer_table *t, const void *pointer);

#endif
