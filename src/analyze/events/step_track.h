/* step_track.h: finds the marks of a trace that start a step that counts.
 *
 * If several processes mark steps, those of one count: the chosen one, else the first. Automatic
 * steps, which start with an optimizer or a call of a module, give way to those of the program: its
 * first step replaces all that have its number or a higher one. An automatic step 0 that follows
 * others replaces them, too: those were calls before the program made its first optimizer.
 *
 * The end of a step starts the next, so the last one may not be a step:
 *  - nothing was allocated in it, or
 *  - no optimizer made a step in it, but one did in the step before it; if the program marks
 *    steps itself, in each of its steps before. Examples are an evaluation, one batch too
 *    many, a file that is saved after the steps. This does not apply if an allocation was
 *    refused in it: then it is the step that failed.
 *
 * An evaluation before a step is not part of it: its mark says that the step of that number has not
 * begun yet, and the next mark of an automatic step begins it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STEP_TRACK_H
#define ML_ANALYZE_STEP_TRACK_H

#include "replay.h"

enum ml_step_turn {
    ML_STEP_GOES_ON, /* or there is no step */
    ML_STEP_BEGINS,  /* the previous one ends */
    ML_STEP_ENDS,
    ML_STEP_EVALUATES, /* since the last step began, the program has evaluated */
    ML_STEP_RESTARTS,  /* the evaluation ends, and the step begins only now */
};

/* Initialise only the first two members. */
struct ml_step_track {
    const struct ml_replay *replay;
    uint32_t only_pid; /* whose steps count; 0: the first process that marks some */
    uint32_t process;  /* the process whose steps count, if count is not 0 */
    bool open;         /* a step is running */
    bool told;         /* the program marks steps itself */
    bool takes_over;   /* the latest step is the program's first */
    bool is_behind;    /* the last one has ended and is not a step: see above */
    bool evaluates;    /* the last one has not begun: an evaluation is running */
    uint64_t count;    /* of steps, including the last */
    uint64_t number;   /* of the last; all are between first and highest */
    uint64_t first, highest;
    uint64_t highest_before; /* the last step */
    /* Steps before the last since the program's first mark, or else since the first step; those
     * of them with a step of an optimizer. */
    uint64_t earlier, earlier_optimized;
    bool previous_optimized, optimized; /* the step before the last, the last */
    uint64_t allocations, refusals;     /* when it began */
};

/* Takes any event, or only those of the replay's on_mark, before the replay reads it. */
enum ml_step_turn ml_step_track_mark(struct ml_step_track *track, const struct ml_event *event);

/* Call it after the last event. */
void ml_step_track_close(struct ml_step_track *track);

/* Allocations in counted spaces so far. */
uint64_t ml_step_allocations(const struct ml_replay *replay);

#endif
