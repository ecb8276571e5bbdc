/* sample_host.h: the lane that reads the host's memory from /proc: the system's,
 * and that of each recorded process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLE_HOST_H
#define ML_SAMPLE_HOST_H

#include "sample_lane.h"

/* The host is not read more often, whatever the GPUs' rate. */
#define ML_HOST_HZ_MAX 100

struct ml_host_process {
    uint32_t pid;
    uint32_t process; /* number in the trace */
    int statm;        /* held open: the pid may be reused */
    bool ended;
    bool no_share;          /* its PSS cannot be read */
    uint64_t address_limit; /* on its address space, in bytes; 0: none, or unknown */
    struct ml_due limit_due, share_due;
    struct ml_sample_last rss, pss;
};

struct ml_host_lane {
    uint32_t device; /* "cpu" */
    uint64_t page_bytes;
    int meminfo;
    struct ml_due system_due;
    struct ml_sample_last system;
    ML_VEC(struct ml_host_process) processes;
    size_t next; /* to be read: processes take turns */
};

extern const struct ml_lane_work ml_host_work; /* its context is a zeroed ml_host_lane */

#endif
