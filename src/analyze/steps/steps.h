/* steps.h: a run step by step: the peak of each step, and the memory it left.
 *
 * A step starts at its mark and lasts until the next, the last one until its process ends.
 * step_track.h explains which marks count, and what after the last step is not a step. An
 * evaluation before a step stands for itself. Figures cover all counted spaces, as in the totals of
 * a replay: if several processes mark steps, such as the ranks of a job, restrict the replay to
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STEPS_H
#define ML_ANALYZE_STEPS_H

#include "arena.h"
#include "replay.h"
#include "step_track.h"

struct ml_step_device {
    uint32_t device;     /* in ml_steps.device_names */
    uint64_t peak_bytes; /* the device's own peak, not its bytes at the step's peak */
};

struct ml_step {
    uint64_t number; /* from the program */
    uint64_t begin_ns, end_ns;
    uint64_t paused_ns; /* of this time the recording was paused */
    uint64_t peak_bytes, peak_time_ns;
    uint64_t peak_event, end_event; /* for ml_replay_instant */
    uint64_t end_bytes;             /* live at its end */
    uint64_t allocations, frees;
    uint64_t category_bytes[ML_CATEGORIES]; /* at its peak */
    size_t first_device, device_count;      /* in ml_steps.devices */
};

struct ml_steps {
    struct ml_arena arena;              /* names */
    ML_VEC(struct ml_step) list;        /* by time */
    ML_VEC(struct ml_step) evaluations; /* by time, each with the number of the step after it */
    ML_VEC(struct ml_step_device) devices;
    ML_VEC(const char *) device_names;
    uint64_t peak_before_bytes; /* the peak before the first step */
    bool has_after;             /* there were allocations after the last step */
    struct ml_step after;       /* these; its number means nothing */
    uint64_t after_rise_bytes;  /* its peak less the live bytes at the end of the last step */
    uint32_t pid;               /* whose steps these are; 0: there are none */
    ML_VEC(uint32_t) pids;      /* of all processes that mark steps, the first one first */
};

/* Use it during a replay: pass it the events of on_mark, and close it before the replay is
 * released. Initialise only the first two members, and only_pid of the track. */
struct ml_step_book {
    struct ml_replay *replay;
    struct ml_steps *steps;
    struct ml_step_track track;
    bool open;                   /* the last of the list has not ended */
    uint64_t allocations, frees; /* when it began */
    bool is_paused;              /* the recording … */
    uint64_t paused_at_ns;       /* … since then, or since the step began */
    uint64_t paused_ns;          /* in earlier pauses of the step */
    unsigned pause_steps;        /* that began in the pause */
    int failed;                  /* -ENOMEM */
};

void ml_step_book_mark(struct ml_step_book *book, const struct ml_event *event);

/* Ends the last step. @return 0 or -ENOMEM */
int ml_step_book_close(struct ml_step_book *book);

/* Reads the trace once.
 * @classes  may be NULL
 * @ret      to be released, after a failure too
 * @return   0 or negative errno */
int ml_steps_read(const struct ml_trace *trace, const struct ml_classes *classes,
                  struct ml_steps *ret, struct ml_error *err);
void ml_steps_release(struct ml_steps *steps);

/* The first step with that number, NULL: there is none. */
const struct ml_step *ml_steps_find(const struct ml_steps *steps, uint64_t number);

/* How long it was recorded: a pause in it is no time of its own, and steps of the program that
 * began in the pause are not known. */
uint64_t ml_step_duration_ns(const struct ml_step *step);

/* Whether the recording was paused in any, including evaluations and what follows. */
bool ml_steps_paused(const struct ml_steps *steps);

/* Whether live memory rose by a hundredth or more after the last step, which is worth a look. A
 * loss or a counter that the program keeps is not. */
bool ml_steps_grew_after(const struct ml_steps *steps);

/* The step with the highest peak, the first of several; NULL: there are no steps. */
const struct ml_step *ml_steps_highest(const struct ml_steps *steps);

#endif
