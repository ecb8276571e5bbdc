/* instant.h: the instant of a run that a report is about: the words of --at, and the event in a
 * trace that they select.
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
    ML_AT_PEAK,     /* the peak of live memory */
    ML_AT_END,      /* before the end of the last process that had memory */
    ML_AT_TIME,     /* after the last event up to a time */
    ML_AT_OOM,      /* when an allocation was refused */
    ML_AT_STEP,     /* the peak within a step */
    ML_AT_STEP_END, /* before the next step began */
};

struct ml_at {
    enum ml_at_kind kind;
    uint64_t time_ns; /* of ML_AT_TIME */
    uint64_t number;  /* of the step, or of the refusal, from 1 */
};

/* The values that ml_at_parse accepts, for messages: "--at: 'x' is neither " ML_AT_WORDS. */
#define ML_AT_WORDS "peak, end, oom, step:N, nor a time such as 1.5s"

/* Sets the error of a report on steps, if the trace has none. @return -ENOENT */
int ml_no_steps(const struct ml_trace *trace, struct ml_error *err);

/* "peak", "end", "oom", "oom:2", "step:3", "step 3", "step:3:end", "1.5s", "20ms".
 * @text   NULL: peak
 * @return whether it is one of these */
bool ml_at_parse(const char *text, struct ml_at *ret);

/* Whether the trace has the instant, if it kept only the last part of a run: of the time before, it
 * has too few blocks. ml_instant_find does this.
 * @return 0, or -ENOENT and `err` names the first time */
int ml_at_check_kept(const struct ml_trace *trace, const struct ml_at *at, struct ml_error *err);

/* "peak", "end", "time", "oom", "step", "step_end". */
const char *ml_at_name(enum ml_at_kind kind);

struct ml_instant {
    struct ml_at at;
    uint64_t event;            /* number of events up to and including it */
    uint64_t time_ns;          /* of that event, or the requested time */
    uint64_t last_label_event; /* for ml_replay_instant */
    uint64_t run_ended_ns;     /* if the requested time is later; else 0 */
    uint64_t refused_bytes;    /* requested, for ML_AT_OOM */
    struct ml_health health;   /* of the whole trace */
};

/* Whether the trace can have live blocks at all. @return 0, or -ENODATA and `err` names the
 * commands that show the trace */
int ml_check_blocks(const struct ml_trace *trace, struct ml_error *err);

/* Reads the trace once.
 * @device  NULL: peaks are those of all counted spaces together; else peaks and refusals are
 *          those of that device ("cuda:0", "0" for short, "cpu")
 * @return 0; -ENODEV without such a device, -ENOENT without such an instant, and `err` lists the
 *         existing ones; -ENODATA if the trace cannot have allocations (see ml_check_blocks); or
 *         another
 *         negative errno */
int ml_instant_find(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                    struct ml_instant *ret, struct ml_error *err);

/* The same for a trace that is compared with others, see ml_replay_init_capped. */
int ml_instant_find_capped(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                           const struct ml_level_caps *caps, struct ml_instant *ret,
                           struct ml_error *err);

/* The index of the device in the replay's names; -1: all, since `device` is NULL.
 * @return 0 or -ENODEV, and `err` lists the existing ones */
int ml_instant_device(const struct ml_replay *replay, const char *device, int64_t *ret,
                      struct ml_error *err);

#endif
