/* pointer_search.h: follows pointers through the memory of a process, from its roots to its blocks.
 *
 * Every aligned word that is an address inside a block counts as a pointer to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_POINTER_SEARCH_H
#define ML_REACH_POINTER_SEARCH_H

#include "block_finder.h"
#include "root_ranges.h"

struct ml_pointer_search {
    pid_t pid;
    uint64_t deadline_ns; /* CLOCK_MONOTONIC */
    uint64_t searched_bytes;
};

/* Decides the reach of every block.
 * @blocks  sorted
 * @return  0; -ETIME: the deadline has passed; or another negative errno */
int ml_pointer_search(struct ml_pointer_search *search, const ml_root_ranges *roots,
                      struct ml_block_finder *blocks);

#endif
