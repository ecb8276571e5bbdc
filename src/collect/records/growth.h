/* growth.h: notices that the memory of the recorded processes has grown by a share within a time,
 * as the kernel and the GPU driver report it.
 *
 * Fed with the samples of processes as they are written. A device has grown if it has so much more
 * now than that time ago; then its history begins again. The first such time is the
 * start of the program and does not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_GROWTH_H
#define ML_COLLECT_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "vec.h"

struct ml_growth_limit {
    double share; /* 0.1: a tenth more; 0: not wanted */
    uint64_t within_ns;
};

#define ML_GROWTH_POINTS 64

struct ml_growth_point {
    uint64_t ns, bytes;
};

/* Its history: points that are a 32nd of the time apart at least, the first as old as the time. */
struct ml_growth_device {
    uint64_t device;   /* string */
    uint64_t begin_ns; /* time of its first sample */
    size_t count;
    struct ml_growth_point points[ML_GROWTH_POINTS];
};

struct ml_growth_value {
    uint64_t device, process;
    uint64_t bytes;
};

struct ml_growth {
    struct ml_growth_limit limit;
    ML_VEC(struct ml_growth_device) devices;
    ML_VEC(struct ml_growth_value) values; /* the last of each process on each device */
    bool grown;                            /* set here, cleared by the caller */
};

void ml_growth_release(struct ml_growth *g);

/* Takes an ML_SAMPLE event; those without a value of a process change nothing. Out of memory: the
 * sample is ignored. */
void ml_growth_sample(struct ml_growth *g, const struct ml_event *sample);

/* The process has ended. */
void ml_growth_forget(struct ml_growth *g, uint32_t process);

#endif
