/* row_cache.h: rows by address, for all threads.
 *
 * Reads and writes take no lock. A table that is full replaces older rows. Rows are forgotten when
 * a library is unloaded: another may take its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ROW_CACHE_H
#define ML_ROW_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "unwind_row.h"

/* The key is the address and, above it, the number of times that libraries were unloaded. A key
 * matches again by mistake only after 65,536 times without a new row in its place. */
struct ml_row_slot {
    _Atomic uint64_t key; /* 0: empty; ML_ROW_BEING_WRITTEN */
    _Atomic uint64_t row;
};

#define ML_ROW_BEING_WRITTEN 1
#define ML_ROW_PROBES 8

extern struct ml_row_slot *ml_row_slots; /* NULL: there is no table */
extern uint32_t ml_row_mask;             /* the number of slots, less one */
extern _Atomic uint32_t ml_unloads;

/* Reserves the table; without address space, each row is computed again. Call once. */
void ml_row_cache_init(void);

/* Forgets all rows. */
void ml_row_cache_forget(void);

void ml_row_cache_put(uintptr_t address, uint32_t unloads, struct ml_unwind_row row);

static inline uint32_t ml_row_unloads(void)
{
    return atomic_load_explicit(&ml_unloads, memory_order_relaxed);
}

static ML_ALWAYS_INLINE uint64_t ml_row_key(uintptr_t address, uint32_t unloads)
{
    return address ^ (uint64_t)unloads << 48;
}

static ML_ALWAYS_INLINE uint32_t ml_row_home(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Whether the slot has the row of that key. A slot may be rewritten meanwhile: its key is read
 * before and after the row. Pairs with the stores in ml_row_cache_put. */
static ML_ALWAYS_INLINE bool ml_row_read(const struct ml_row_slot *slot, uint64_t key,
                                         struct ml_unwind_row *ret)
{
    uint64_t row;

    if (atomic_load_explicit(&slot->key, memory_order_acquire) != key)
        return false;
    row = atomic_load_explicit(&slot->row, memory_order_acquire);
    if (atomic_load_explicit(&slot->key, memory_order_relaxed) != key)
        return false;
    memcpy(ret, &row, sizeof(*ret));
    return true;
}

/* @unloads: ml_row_unloads() at the beginning of the walk. @return whether the row is known */
static ML_ALWAYS_INLINE bool ml_row_cache_get(uintptr_t address, uint32_t unloads,
                                              struct ml_unwind_row *ret)
{
    uint64_t key = ml_row_key(address, unloads);
    uint32_t home = ml_row_home(key);

    if (ML_UNLIKELY(!ml_row_slots))
        return false;
    for (uint32_t i = 0; i < ML_ROW_PROBES; i++) {
        if (ML_LIKELY(ml_row_read(&ml_row_slots[(home + i) & ml_row_mask], key, ret)))
            return true;
    }
    return false;
}

#endif
