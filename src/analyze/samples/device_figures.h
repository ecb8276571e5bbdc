/* device_figures.h: what was last said of a device's memory up to an event: used, free,
 * in all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DEVICE_FIGURES_H
#define ML_ANALYZE_DEVICE_FIGURES_H

#include "samples.h"

struct ml_device_figures {
    const char *device; /* whose: given by the caller */
    struct ml_seen used, free, total;
    uint64_t time_ns; /* of the sample that told what is free; 0: none did */
};

/* Fills in `count` of them by one pass over the first `events` events. A total that is
 * told later holds as well: a device does not grow.
 * @return 0 or negative errno */
int ml_device_figures(const struct ml_trace *trace, uint64_t events, struct ml_device_figures *list,
                      size_t count, struct ml_error *err);

#endif
