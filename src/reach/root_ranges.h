/* root_ranges.h: where a process keeps pointers to its blocks, other than in blocks: the data of
 * its libraries, stacks, and memory that it mapped itself. The heap of malloc is not among them:
 * freed blocks there still contain old pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_ROOT_RANGES_H
#define ML_REACH_ROOT_RANGES_H

#include "peer_memory.h"
#include "ring.h"

struct ml_root_range {
    uint64_t begin, end;
    bool anonymous;
};

typedef ML_VEC(struct ml_root_range) ml_root_ranges;

/* @copy   as the process left it
 * @return 0 or negative errno */
int ml_root_ranges_find(const struct ml_session_copy *copy, pid_t pid, ml_root_ranges *ret);

#endif
