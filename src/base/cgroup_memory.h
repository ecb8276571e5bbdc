/* cgroup_memory.h: memory limits of this process's control groups, as in a container or a batch
 * job, and what the kernel did to keep them. In version 1 and 2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_CGROUP_MEMORY_H
#define ML_BASE_CGROUP_MEMORY_H

#include <stdint.h>

/* The groups that the process is in, and where groups are mounted. */
#define ML_CGROUP_OF_THIS_PROCESS "/proc/self/cgroup"
#define ML_CGROUP_MOUNTS "/sys/fs/cgroup"

/* The smallest limit of the process's group and of those around it.
 * @return UINT64_MAX: there is none, or it cannot be read */
uint64_t ml_cgroup_limit_bytes(const char *groups, const char *mounts);

/* Since the group was made; 0 if it cannot be read. */
struct ml_cgroup_kills {
    uint64_t kills;    /* processes that the kernel killed for memory */
    uint64_t at_limit; /* times that a limit left no memory; version 1: times that one was met */
};

struct ml_cgroup_kills ml_cgroup_kills(const char *groups, const char *mounts);

#endif
