/* profile_memory.h: how much memory a process has on each device, counted from
 * its allocations and frees while a profile runs.
 *
 * There is one book per device and level. Memory allocated before counting began is
 * unknown here, and so is its free: books start at 0 and never go below. Not
 * thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_MEMORY_H
#define ML_PROFILE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "event.h"
#include "map.h"
#include "vec.h"

struct ml_memory_book {
    uint32_t device; /* string number */
    uint32_t level;  /* enum memledger_level */
    uint64_t bytes;
};

struct ml_memory_space {
    uint32_t book;
    struct ml_map live; /* address to bytes */
};

/* The block that a thread is moving. */
struct ml_memory_move {
    uint32_t space;
    uint64_t addr, bytes;
};

struct ml_profile_memory {
    const struct ml_dict *dict;
    ML_VEC(struct ml_memory_book) books;
    ML_VEC(struct ml_memory_space) spaces;
    ML_VEC(struct ml_memory_move) moves;
    struct ml_map space_index; /* space number to index in spaces */
    struct ml_map move_index;  /* thread number to index in moves */
};

void ml_profile_memory_init(struct ml_profile_memory *m, const struct ml_dict *dict);
void ml_profile_memory_release(struct ml_profile_memory *m);

/* Sets all books to 0 and forgets the live blocks. */
void ml_profile_memory_clear(struct ml_profile_memory *m);

/* Counts one event. @return the book it changed, -1: none */
int64_t ml_profile_memory_event(struct ml_profile_memory *m, const struct ml_event *ev);

#endif
