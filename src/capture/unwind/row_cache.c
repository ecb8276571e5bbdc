/* row_cache.c: see row_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "row_cache.h"

#include "address_room.h"

/* 2 MiB; a program with PyTorch has some tens of thousands of addresses that call malloc, directly
 * or not. */
#define SLOTS_MAX (1u << 17)
#define SLOTS_LEAST (1u << 10)

struct ml_row_slot *ml_row_slots;
uint32_t ml_row_mask;
_Atomic uint32_t ml_unloads;

void ml_row_cache_init(void)
{
    uint32_t slots = 0;
    struct ml_row_slot *at =
        ml_address_table(SLOTS_MAX, SLOTS_LEAST, sizeof(*ml_row_slots), &slots);

    ml_row_mask = slots - 1;
    ml_row_slots = at;
}

void ml_row_cache_forget(void)
{
    atomic_fetch_add_explicit(&ml_unloads, 1, memory_order_relaxed);
}

/* A row of an earlier key may be replaced. */
static bool is_outdated(uint64_t key, uint64_t new_key)
{
    return !key || (key != ML_ROW_BEING_WRITTEN && key >> 48 != new_key >> 48);
}

/* The slot for a new row, in which its current key is *ret_old: the first that is free, otherwise
 * the home slot. */
static struct ml_row_slot *slot_for(uint64_t key, uint64_t *ret_old)
{
    uint32_t home = ml_row_home(key);
    struct ml_row_slot *slot;

    for (uint32_t i = 0; i < ML_ROW_PROBES; i++) {
        slot = &ml_row_slots[(home + i) & ml_row_mask];
        *ret_old = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (is_outdated(*ret_old, key))
            return slot;
    }
    slot = &ml_row_slots[home & ml_row_mask];
    *ret_old = atomic_load_explicit(&slot->key, memory_order_relaxed);
    return slot;
}

/* A thread that is killed, or forks a child, between the stores leaves a slot that no one uses. */
void ml_row_cache_put(uintptr_t address, uint32_t unloads, struct ml_unwind_row row)
{
    uint64_t key = ml_row_key(address, unloads);
    struct ml_row_slot *slot;
    uint64_t old, word;

    if (!ml_row_slots)
        return;
    slot = slot_for(key, &old);
    if (old == ML_ROW_BEING_WRITTEN ||
        !atomic_compare_exchange_strong_explicit(&slot->key, &old, ML_ROW_BEING_WRITTEN,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    memcpy(&word, &row, sizeof(word));
    /* Both pair with the acquire loads in ml_row_read: whoever sees the new row no longer sees the
     * old key, and whoever sees the new key sees the new row. */
    atomic_store_explicit(&slot->row, word, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
}
