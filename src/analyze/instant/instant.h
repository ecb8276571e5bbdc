/* instant.h: which moment of a run a report is about: the words of --at, and the
 * event that they mean in a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_INSTANT_H
#define ML_ANALYZE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "health.h"
#include "trace.h"

enum ml_at_kind {
    ML_AT_PEAK,     /* where most was live */
    ML_AT_END,      /* before the last process that had any of it ended */
    ML_AT_TIME,     /* after the last event up to a time */
    ML_AT_OOM,      /* when an allocation was refused */
    ML_AT_STEP,     /* the peak within a step */
    ML_AT_STEP_END, /* before the next step began */
};

struct ml_at {
    enum ml_at_kind kind;
    uint64_t time_ns; /* of ML_AT_TIME */
    uint64_t number;  /* of the step; of the refusal, from 1 */
};

/* What ml_at_parse takes, for sentences: "--at: 'x' is neither " ML_AT_WORDS. */
#define ML_AT_WORDS "peak, end, oom, step:N, nor a time such as 1.5s"

#define ML_NO_STEPS                                                                                \
    "the trace has no steps; memledger_step() marks them, memledger run for PyTorch and MXNet"

/* "peak", "end", "oom", "oom:2", "step:3", "step 3", "step:3:end", "1.5s", "20ms".
 * @text   NULL: peak
 * @return whether it is one of these */
bool ml_at_parse(const char *text, struct ml_at *ret);

/* "peak", "end", "time", "oom", "step", "step_end". */
const char *ml_at_name(enum ml_at_kind kind);

struct ml_instant {
    struct ml_at at;
    uint64_t event;            /* events up to and with it */
    uint64_t time_ns;          /* of that event, or the time that was asked for */
    uint64_t last_label_event; /* for ml_replay_instant */
    uint64_t run_ended_ns;     /* the time asked for is after it; 0: it is not */
    uint64_t refused_bytes;    /* asked for, of ML_AT_OOM */
    struct ml_health health;   /* of the whole trace */
};

/* Reads the trace once.
 * @device  NULL: peaks are those of all counted spaces together; else of that device
 *          alone ("cuda:0", "0" for it, "cpu"), and so are refusals
 * @return 0; -ENODEV without such a device, -ENOENT without such a moment, where
 *         `err` says what there is; or another negative errno */
int ml_instant_find(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                    struct ml_instant *ret, struct ml_error *err);

/* The same beside other traces, as ml_replay_init_capped. */
int ml_instant_find_capped(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                           const struct ml_level_caps *caps, struct ml_instant *ret,
                           struct ml_error *err);

/* The index of the device in the replay's names; -1: all, since `device` is NULL.
 * @return 0 or -ENODEV, and `err` names those that there are */
int ml_instant_device(const struct ml_replay *replay, const char *device, int64_t *ret,
                      struct ml_error *err);

#endif
