/* chrome_memory_curves.h: live memory by device, category and level, and samples, as curves of
 * a Chrome trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_CHROME_MEMORY_CURVES_H
#define ML_EXPORT_CHROME_MEMORY_CURVES_H

#include "chrome_gauges.h"
#include "replay.h"

/* The live bytes of one device. */
struct ml_device_curve {
    uint64_t device_bytes; /* in all categories */
    uint64_t categories[ML_CATEGORIES];
};

struct ml_chrome_memory {
    struct ml_chrome_gauges gauges;
    const struct ml_replay *replay;
    uint64_t total_bytes; /* of all devices */
    uint64_t categories[ML_CATEGORIES];
    ML_VEC(struct ml_device_curve) devices; /* by their index in the replay */
    struct ml_intern sampled;               /* names of devices; a trace may have a string twice */
    const char *category_names[ML_CATEGORIES];
    int error; /* the first failure */
};

/* @replay is fed by the caller; must outlive it */
void ml_chrome_memory_init(struct ml_chrome_memory *m, struct ml_chrome *chrome,
                           const struct ml_replay *replay);
void ml_chrome_memory_release(struct ml_chrome_memory *m);

/* Call after each event that was fed. */
void ml_chrome_memory_event(struct ml_chrome_memory *m, const struct ml_event *event);

#endif
