/* torch_device.h: one device of a snapshot on its way into a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_DEVICE_H
#define ML_TORCH_DEVICE_H

#include "torch_layout.h"
#include "torch_past.h"

/* Annotations that are open within each other; deeper ones are passed over. */
#define ML_TORCH_RANGES_DEEP 256

struct ml_torch_open_range {
    uint32_t name;
    uint32_t outer; /* the scope around it */
    bool optimizer;
};

/* The blocks of a private pool are in a space of their own. */
struct ml_torch_pool {
    uint64_t start, end;
    uint32_t space;
};

struct ml_torch_device {
    struct ml_torch_snapshot *t;
    uint32_t number;
    uint32_t name; /* "cuda:0" */
    uint32_t thread;
    uint32_t blocks, segments, mapped; /* spaces */
    uint32_t scope;
    uint64_t start_us; /* time 0 of the trace */
    uint64_t now_ns;
    uint32_t next_entry, end_entry;
    uint32_t next_annotation;
    uint64_t steps;
    struct ml_torch_layout layout;
    ML_VEC(struct ml_torch_pool) pools; /* by start */
    ML_VEC(struct ml_torch_open_range) open;
};

int ml_torch_device_init(struct ml_torch_device *d, struct ml_torch_snapshot *t, uint32_t number,
                         uint64_t start_us);
void ml_torch_device_release(struct ml_torch_device *d);

/* What was there before the first entry, as events at time 0. */
int ml_torch_put_past(struct ml_torch_device *d);

/* When the next of the device's entries and annotations was; false: there is none. */
bool ml_torch_next_us(const struct ml_torch_device *d, uint64_t *ret);

/* Puts it into the trace. */
int ml_torch_put_next(struct ml_torch_device *d);

/* Inside: an annotation begins or ends. */
int ml_torch_put_annotation(struct ml_torch_device *d, const struct ml_torch_annotation *a);

/* Inside: an event of this device, now. */
struct ml_event ml_torch_event(const struct ml_torch_device *d, enum ml_kind kind);

#endif
