/* level_caps.h: the level at which each device is counted when several traces are compared: the
 * highest level that all of them have, so that like is compared with like. A trace without the
 * device does not limit it. Counting can be restricted to one device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEVEL_CAPS_H
#define ML_ANALYZE_LEVEL_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "intern.h"
#include "trace.h"
#include "vec.h"

/* Bits are 1 << level. */
struct ml_level_cap {
    uint32_t common;  /* in every trace that has the device */
    uint32_t any;     /* in at least one */
    uint32_t reading; /* in the trace being read */
};

/* All zero: no trace yet, and no cap. */
struct ml_level_caps {
    struct ml_intern devices;
    ML_VEC(struct ml_level_cap) list; /* by the device's number */
    const char *only_device;          /* in the form of ml_device_is; NULL: all are counted */
    uint32_t only_pid;                /* the same for a process; 0: all */
};

/* Adds a trace. @return 0 or -ENOMEM */
int ml_level_caps_add(struct ml_level_caps *caps, const struct ml_trace *trace);
void ml_level_caps_release(struct ml_level_caps *caps);

/* The level at which to count the device; 0: no trace limits it. `caps` may be NULL. */
uint32_t ml_level_cap(const struct ml_level_caps *caps, const char *device, size_t len);

/* Visits the devices that some trace would count at a higher level if it were alone. Start with
 * *cursor 0.
 * @return the device, with its level in *ret_level; NULL at the end */
const char *ml_level_caps_next(const struct ml_level_caps *caps, uint32_t *cursor,
                               uint32_t *ret_level);

#endif
