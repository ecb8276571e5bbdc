/* cuda_first.h: events that the book has seen before and need not see again: functions that were
 * launched or queried, entries that were called.
 *
 * Programs launch kernels a million times a second, so a check takes a few loads and no lock.
 * Everything is forgotten when contexts or code are created or destroyed: handles may then be
 * reused with another meaning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_FIRST_H
#define ML_CUDA_FIRST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "cuda_entries.h"

#define ML_CUDA_SEEN_BITS 16
#define ML_CUDA_SEEN_PROBES 8

/* A slot has the epoch in its upper 16 bits and the handle below; slots of other epochs are free.
 * Static and mostly untouched, so it takes no memory. */
extern _Atomic uint64_t ml_cuda_seen_slots[1 << ML_CUDA_SEEN_BITS];
extern _Atomic uint64_t ml_cuda_epoch; /* shifted already: epoch << 48 */
extern _Atomic uint64_t ml_cuda_called[ML_CUDA_ENTRY_COUNT];

static ML_ALWAYS_INLINE uint64_t ml_cuda_seen_key(uintptr_t function)
{
    return atomic_load_explicit(&ml_cuda_epoch, memory_order_relaxed) | (function & 0xffffffffffff);
}

static ML_ALWAYS_INLINE _Atomic uint64_t *ml_cuda_seen_slot(uint64_t key, unsigned probe)
{
    uint64_t hash = (key * 0x9e3779b97f4a7c15) >> (64 - ML_CUDA_SEEN_BITS);

    return &ml_cuda_seen_slots[(hash + probe) & ((1 << ML_CUDA_SEEN_BITS) - 1)];
}

/* Handles of functions are multiples of 8: callers may use the lowest bit to distinguish two uses.
 * When too many collide, they count as seen. */
bool ml_cuda_seen(uintptr_t function);

/* An inline check that finds most of them. */
static ML_ALWAYS_INLINE bool ml_cuda_seen_at_once(uintptr_t function)
{
    uint64_t key = ml_cuda_seen_key(function);

    return atomic_load_explicit(ml_cuda_seen_slot(key, 0), memory_order_relaxed) == key;
}

void ml_cuda_note_seen(uintptr_t function);

static ML_ALWAYS_INLINE bool ml_cuda_was_called(enum ml_cuda_entry entry)
{
    return atomic_load_explicit(&ml_cuda_called[entry], memory_order_relaxed) ==
           atomic_load_explicit(&ml_cuda_epoch, memory_order_relaxed);
}

void ml_cuda_note_called(enum ml_cuda_entry entry);

/* Makes everything count as a first time again. */
void ml_cuda_forget_firsts(void);

#endif
