/* tape.h: the scopes in which a framework made the numbers of its tapes.
 *
 * A tape is a sequence that a framework replays backwards, such as the nodes of PyTorch's
 * graph; each thread that makes nodes has one and numbers them. Numbers arrive in
 * rising intervals. When they go back, the tape has restarted: the scopes
 * of the numbers from there on are forgotten.
 *
 * Memory is bounded: a full tape forgets the older half of its intervals,
 * and with too many tapes or intervals the least recently used tape
 * is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TAPE_H
#define ML_TAPE_H

#include <stdint.h>

#include "map.h"
#include "vec.h"

#define ML_TAPES_MAX 4096u
#define ML_TAPE_INTERVALS_MAX (1u << 20)         /* of one tape */
#define ML_TAPES_INTERVALS_MAX ((size_t)4 << 20) /* of all, 24 bytes each */

struct ml_tape_interval {
    uint64_t first, end;
    uint32_t scope;
};

struct ml_tape {
    uint64_t id;
    uint64_t used; /* time of the last use, by the clock of struct ml_tapes */
    ML_VEC(struct ml_tape_interval) intervals;
};

/* All zero bytes is a valid empty one. */
struct ml_tapes {
    ML_VEC(struct ml_tape) items;
    struct ml_map by_id; /* to the index in items */
    uint64_t clock;      /* uses so far */
    size_t room;         /* allocated intervals of all tapes */
};

void ml_tapes_release(struct ml_tapes *tapes);

/* The numbers from `first` to before `end` of a tape were made in `scope`. Without
 * memory they stay unknown. */
void ml_tapes_add(struct ml_tapes *tapes, uint64_t tape, uint64_t first, uint64_t end,
                  uint32_t scope);

/* @return the scope that the number was made in; 0: none, or unknown */
uint32_t ml_tapes_find(struct ml_tapes *tapes, uint64_t tape, uint64_t number);

#endif
