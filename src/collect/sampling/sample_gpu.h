/* sample_gpu.h: the lane that reads the GPUs' memory from the driver: for each
 * device and, if the driver reports it, for each recorded process on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLE_GPU_H
#define ML_SAMPLE_GPU_H

#include "nvml.h"
#include "sample_lane.h"

struct ml_gpu_device {
    uint32_t string; /* "cuda:0" */
    struct ml_sample_last memory;
    uint64_t changed_ns;          /* when that last changed */
    struct ml_sample_last others; /* processes that are not recorded */
    uint64_t listed_used;         /* in use when its processes were listed last … */
    uint64_t listed_ns;           /* … and when that was */
    bool has_newcomers;           /* not recorded so far, but may yet be */
};

/* A recorded process that the driver has listed on a device. */
struct ml_gpu_user {
    size_t device;
    uint32_t process;
    uint32_t round; /* the round that listed it last */
    struct ml_sample_last last;
};

/* A process that the driver has listed and that is not recorded, or not yet. */
struct ml_gpu_stranger {
    uint32_t pid;
    uint64_t since_ns;
};

struct ml_gpu_lane {
    struct ml_nvml nvml;
    char why[ML_NVML_WHY_BYTES]; /* why no GPU can be read; "": they can */
    bool told;                   /* the memory of at least one device was read */
    bool may_rest;               /* if nothing changes */
    uint32_t program;            /* 0: not known; until it has joined, and after it has left, the
                                    memory of other processes is unknown */
    ML_VEC(struct ml_gpu_device) devices;
    ML_VEC(struct ml_process_watch) watched;
    ML_VEC(struct ml_gpu_user) users;
    ML_VEC(struct ml_gpu_stranger) strangers;
    struct ml_due open_due;
    bool has_gpu_open; /* some recorded process has a GPU's device file open */
    uint32_t round;
};

extern const struct ml_lane_work ml_gpu_work; /* its context is a zeroed ml_gpu_lane */

#endif
