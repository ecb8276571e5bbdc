/* torch_device.h: writes one device of a snapshot into a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_DEVICE_H
#define ML_TORCH_DEVICE_H

#include "phase.h"
#include "torch_layout.h"
#include "torch_past.h"

/* The deepest nesting of annotations; deeper ones are ignored. */
#define ML_TORCH_RANGES_DEEP 256

struct ml_torch_open_range {
    uint32_t name;
    uint32_t outer; /* the scope around it */
    bool optimizer;
};

/* A scope that stacks show. */
struct ml_torch_open_call {
    struct ml_torch_call call; /* with the first frame that ran in it */
    uint32_t last_frame;
    uint32_t outer; /* the scope around it */
};

/* The blocks of a private pool have their own space. */
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
    ML_VEC(struct ml_torch_open_call) calls; /* below the innermost range */
    uint8_t phase;                           /* enum ml_phase, of the last mark */
    uint32_t last_stack;                     /* of the last allocation */
};

int ml_torch_device_init(struct ml_torch_device *d, struct ml_torch_snapshot *t, uint32_t number,
                         uint64_t start_us);
void ml_torch_device_release(struct ml_torch_device *d);

/* Writes the state before the first entry, as events at time 0. */
int ml_torch_put_past(struct ml_torch_device *d);

/* The time of the device's next entry or annotation; false: none is left. */
bool ml_torch_next_us(const struct ml_torch_device *d, uint64_t *ret);

/* Writes it into the trace. */
int ml_torch_put_next(struct ml_torch_device *d);

/* Private: an annotation begins or ends. */
int ml_torch_put_annotation(struct ml_torch_device *d, const struct ml_torch_annotation *a);

/* Private: enters a scope below the current one, leaves scopes until `outer` is the current one,
 * starts a phase, or ends a step. */
void ml_torch_push(struct ml_torch_device *d, struct ml_dict_scope scope);
void ml_torch_pop_to(struct ml_torch_device *d, uint32_t outer);
void ml_torch_mark_phase(struct ml_torch_device *d, enum ml_phase phase);
void ml_torch_mark_step(struct ml_torch_device *d);

/* Private: enters and leaves scopes until the device is where the stack of the entry shows it.
 * @return 0 or -ENOMEM */
int ml_torch_follow(struct ml_torch_device *d, const struct ml_torch_history_entry *e);

/* Private: leaves all scopes that stacks show. */
void ml_torch_leave_calls(struct ml_torch_device *d);

/* What its stack says about a block. A category without a label may be refuted by its lifetime. */
struct ml_torch_purpose {
    uint8_t category; /* MEMLEDGER_OTHER: unknown */
    uint32_t label;   /* 0: none */
};

/* Private: of a block that outlived what allocated it, or of one that an entry allocated, after
 * ml_torch_follow and before the next entry. */
struct ml_torch_purpose ml_torch_kept_purpose(struct ml_torch_device *d, uint32_t stack);
struct ml_torch_purpose ml_torch_new_purpose(struct ml_torch_device *d,
                                             const struct ml_torch_history_entry *e);

/* Private: an event of this device at the current time. */
struct ml_event ml_torch_event(const struct ml_torch_device *d, enum ml_kind kind);

#endif
