/* cuda_first.c: see cuda_first.h.
 *
 * Relaxed throughout: a slot is one word and publishes nothing else. A thread that sees an old one
 * calls the book once more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_first.h"

#define EPOCH_ONE ((uint64_t)1 << 48)

_Atomic uint64_t ml_cuda_seen_slots[1 << ML_CUDA_SEEN_BITS];
_Atomic uint64_t ml_cuda_epoch = EPOCH_ONE; /* 0: an empty slot */
_Atomic uint64_t ml_cuda_called[ML_CUDA_ENTRY_COUNT];

static bool is_free(uint64_t slot, uint64_t key)
{
    return slot >> 48 != key >> 48;
}

bool ml_cuda_seen(uintptr_t function)
{
    uint64_t key = ml_cuda_seen_key(function);

    for (unsigned i = 0; i < ML_CUDA_SEEN_PROBES; i++) {
        uint64_t slot = atomic_load_explicit(ml_cuda_seen_slot(key, i), memory_order_relaxed);
        if (slot == key)
            return true;
        if (is_free(slot, key))
            return false;
    }
    return true;
}

void ml_cuda_note_seen(uintptr_t function)
{
    uint64_t key = ml_cuda_seen_key(function);

    for (unsigned i = 0; i < ML_CUDA_SEEN_PROBES; i++) {
        _Atomic uint64_t *at = ml_cuda_seen_slot(key, i);
        uint64_t slot = atomic_load_explicit(at, memory_order_relaxed);
        if (is_free(slot, key) && atomic_compare_exchange_strong_explicit(
                                      at, &slot, key, memory_order_relaxed, memory_order_relaxed))
            return;
        if (slot == key)
            return;
    }
}

void ml_cuda_note_called(enum ml_cuda_entry entry)
{
    atomic_store_explicit(&ml_cuda_called[entry],
                          atomic_load_explicit(&ml_cuda_epoch, memory_order_relaxed),
                          memory_order_relaxed);
}

/* Epochs repeat after 65535 others; a slot that then looks current is not reported. */
void ml_cuda_forget_firsts(void)
{
    uint64_t epoch = atomic_load_explicit(&ml_cuda_epoch, memory_order_relaxed);
    uint64_t next = epoch + EPOCH_ONE ? epoch + EPOCH_ONE : EPOCH_ONE;

    atomic_compare_exchange_strong_explicit(&ml_cuda_epoch, &epoch, next, memory_order_relaxed,
                                            memory_order_relaxed);
}
