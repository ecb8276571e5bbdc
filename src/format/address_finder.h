/* address_finder.h: find the reference for an address, the writer's side of address_model.h.
 *
 * A table of the addresses in the block. It may miss some; the event then has its address in
 * full. Nothing is allocated; the struct is large (5 MiB).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ADDRESS_FINDER_H
#define ML_ADDRESS_FINDER_H

#include <stdint.h>

#include "address_model.h"

#define ML_FINDER_PLACES (2 * ML_BLOCK_MAX_EVENTS) /* a power of two */

/* What is known of an address: 1 + the number of the last allocation that starts there, of the
 * last that ends there, and of the last free of a block there; 0: none. */
struct ml_found_address {
    uint64_t addr;
    uint32_t round;      /* the entry is empty if this is not the finder's */
    uint32_t room_units; /* room of the allocation that starts there / 16; 0: ask the model */
    uint64_t start : 20, end : 20, freed : 20;
};

_Static_assert(ML_BLOCK_MAX_EVENTS < 1u << 20, "numbers of events fit");

struct ml_address_finder {
    uint32_t round;
    struct ml_address_model model;
    struct ml_found_address places[ML_FINDER_PLACES];
};

/* Precondition for the first call: the round is 0 and the places are zero. */
void ml_address_finder_reset(struct ml_address_finder *f);

static inline uint32_t ml_finder_home(uint64_t addr)
{
    return (uint32_t)(addr * UINT64_C(0x9e3779b97f4a7c15) >> 47) % ML_FINDER_PLACES;
}

/* Says that an event of this address is near: its entry is fetched into the cache. The table is
 * larger than most caches, and waiting for it was a fifth of the collector's work. */
static inline void ml_finder_expect(const struct ml_address_finder *f, uint64_t addr)
{
    __builtin_prefetch(&f->places[ml_finder_home(addr)], 1);
}

/* Each adds the event and returns its reference. A free that is none, such as a label, is not
 * added. */
uint32_t ml_find_alloc(struct ml_address_finder *f, uint32_t thread, uint64_t addr, uint64_t size);
uint32_t ml_find_free(struct ml_address_finder *f, uint32_t thread, uint64_t addr, bool is_free);

#endif
