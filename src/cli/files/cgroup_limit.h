/* cgroup_limit.h: the memory limit of this process's control groups, as in a container or a
 * batch job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_CGROUP_LIMIT_H
#define ML_CLI_CGROUP_LIMIT_H

#include <stdint.h>

/* The smallest limit of the process's group and of those around it, in version 1 and 2.
 * @groups  the groups that the process is in: /proc/self/cgroup
 * @mounts  where the groups are mounted: /sys/fs/cgroup
 * @return UINT64_MAX: there is none, or it cannot be read */
uint64_t ml_cgroup_limit_bytes(const char *groups, const char *mounts);

#endif
