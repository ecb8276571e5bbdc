/* recorded_blocks.c: see recorded_blocks.h.
 *
 * The set has levels, each with eight times the room of the one before. A block can be in a few
 * places of each level; it goes into the first that is free. Nothing ever moves, so that neither a
 * lock nor a mark for removed blocks is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorded_blocks.h"

#include <errno.h>

#include "address_room.h"
#include "sys.h"

#define LEVELS 4u
#define FIRST_PLACES (1u << 14) /* 128 KiB; the last level has room for eight million blocks */
#define GROWTH 8u
#define WINDOW 32u /* places of a level to try: four cache lines */

_Atomic uint8_t ml_recorded_filter[1u << ML_RECORDED_FILTER_BITS];

static _Atomic uintptr_t *levels[LEVELS]; /* NULL: not in use yet */

/* Pairs with the release in add_level: the places are zero. */
static _Atomic uintptr_t *places_of(uint32_t level)
{
    return __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);
}

static uint32_t places_in(uint32_t level)
{
    uint32_t places = FIRST_PLACES;

    while (level--)
        places *= GROWTH;
    return places;
}

/* Two threads may do this at once: one of them gives its places back. Keeps errno. */
static _Atomic uintptr_t *add_level(uint32_t level)
{
    int saved_errno = errno;
    uint32_t wanted = places_in(level), entries;
    _Atomic uintptr_t *none = NULL;
    _Atomic uintptr_t *places = ml_address_table(wanted, wanted, sizeof(*places), &entries);

    errno = saved_errno;
    if (!places)
        return NULL;
    if (__atomic_compare_exchange_n(&levels[level], &none, places, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return places;
    ml_sys_unmap((void *)places, wanted * sizeof(*places));
    return none;
}

/* The first of WINDOW places. */
static _Atomic uintptr_t *window_of(_Atomic uintptr_t *places, uint32_t level, uint64_t hash)
{
    return places + ((uint32_t)(hash >> 20) & (places_in(level) - 1) & ~(WINDOW - 1));
}

/* Replaces a value in a window. */
static bool exchange(_Atomic uintptr_t *window, uintptr_t old, uintptr_t new_value)
{
    for (uint32_t k = 0; k < WINDOW; k++) {
        uintptr_t expected = old;
        if (atomic_load_explicit(&window[k], memory_order_relaxed) == old &&
            atomic_compare_exchange_strong_explicit(&window[k], &expected, new_value,
                                                    memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return false;
}

static void count_in_filter(uint64_t hash, int by)
{
    _Atomic uint8_t *entry = &ml_recorded_filter[hash >> (64 - ML_RECORDED_FILTER_BITS)];
    uint8_t n = atomic_load_explicit(entry, memory_order_relaxed);

    while (n != UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(entry, &n, (uint8_t)(n + by),
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

bool ml_recorded_put(const void *p)
{
    uint64_t hash = ml_recorded_hash(p);

    for (uint32_t i = 0; i < LEVELS; i++) {
        _Atomic uintptr_t *places = places_of(i);

        if (!places && !(places = add_level(i)))
            return false;
        if (exchange(window_of(places, i, hash), 0, (uintptr_t)p)) {
            count_in_filter(hash, 1);
            return true;
        }
    }
    return false;
}

bool ml_recorded_take(const void *p)
{
    uint64_t hash = ml_recorded_hash(p);
    _Atomic uintptr_t *places;

    for (uint32_t i = 0; i < LEVELS && (places = places_of(i)); i++) {
        if (exchange(window_of(places, i, hash), (uintptr_t)p, 0)) {
            count_in_filter(hash, -1);
            return true;
        }
    }
    return false;
}
