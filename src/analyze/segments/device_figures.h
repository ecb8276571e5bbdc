/* device_figures.h: the memory of a device at an instant, as it was last sampled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DEVICE_FIGURES_H
#define ML_ANALYZE_DEVICE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "samples.h"
#include "trace.h"

/* The latest figures of a device's memory up to an event. */
struct ml_device_figures {
    const char *device; /* given by the caller */
    struct ml_seen used, free, total;
    uint64_t time_ns; /* of the sample with the free memory; 0: none */
};

/* Fills in `count` of them from the samples among the first `events` events. A total from a later
 * sample is used too: the size of a device does not change. Reads the trace once, or only copies of
 * its samples and a stretch around the instant, if it has checkpoints.
 * @time_ns  of the last of these events
 * @return 0 or negative errno */
int ml_device_figures(const struct ml_trace *trace, uint64_t events, uint64_t time_ns,
                      struct ml_device_figures *list, size_t count, struct ml_error *err);

#endif
