/* block_choice.h: which blocks of a run a picture or a list shows: the largest ones, or the one at
 * an address with its neighbours. Only the lifetimes include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_CHOICE_H
#define ML_ANALYZE_BLOCK_CHOICE_H

#include "allocations.h"
#include "vec.h"

struct ml_candidate {
    struct ml_allocation allocation;
    double weight; /* the heaviest are kept */
    uint64_t life_ns;
};

/* Start with `top`, and zeroes otherwise. */
struct ml_heaviest {
    size_t top;
    ML_VEC(struct ml_candidate) list; /* a heap whose first entry is the next to drop */
};

/* Of equal weight, those that lived longest are kept, then those allocated first, then those with
 * the lower address.
 * @ret_dropped  the candidate itself, the one whose place it took, or, if it returns false, none
 * @return 1: one was dropped; 0; or -ENOMEM */
int ml_heaviest_offer(struct ml_heaviest *heaviest, const struct ml_candidate *one,
                      struct ml_candidate *ret_dropped);
void ml_heaviest_release(struct ml_heaviest *heaviest);

/* The block that contains an address, and the nearest below and above it, on one device of one
 * process: addresses of others mean something else. */
struct ml_neighbourhood {
    uint32_t process, device;
    struct ml_candidate below, at, above;
    bool has_below, has_at, has_above;
};

/* Start with `addr`, and zeroes otherwise. */
struct ml_neighbours {
    uint64_t addr;
    ML_VEC(struct ml_neighbourhood) list;
};

/* All candidates must be live at the same moment. @return 0 or -ENOMEM */
int ml_neighbours_offer(struct ml_neighbours *near, const struct ml_trace *trace,
                        const struct ml_candidate *one);

/* The first with a block at the address; NULL: there is none. */
struct ml_neighbourhood *ml_neighbours_found(const struct ml_neighbours *near);
void ml_neighbours_release(struct ml_neighbours *near);

#endif
