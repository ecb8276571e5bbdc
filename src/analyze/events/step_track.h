/* step_track.h: which marks of a trace begin a step that counts.
 *
 * Where several processes mark steps, those of the one that marked first count. Steps that
 * begin by themselves, with an optimizer or a call of a module, give way to those of the
 * program: its first takes the place of all that have its number or a higher one.
 *
 * What ends a step begins the next, so that behind the last there may be one that is none:
 *  - nothing was allocated in it, or
 *  - no optimizer made a step in it, but one did in the step before it; where the program
 *    marks steps itself, in each of its steps before. An evaluation, a batch too many, a file
 *    that is saved: that comes after the steps. Not if memory was refused in it, which makes
 *    it the step that failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STEP_TRACK_H
#define ML_ANALYZE_STEP_TRACK_H

#include "replay.h"

enum ml_step_turn {
    ML_STEP_GOES_ON, /* or there is none */
    ML_STEP_BEGINS,  /* the one before it ends */
    ML_STEP_ENDS,
};

/* Initialise with the first alone. */
struct ml_step_track {
    const struct ml_replay *replay;
    uint32_t process; /* whose steps count, where count is not 0 */
    bool open;        /* a step goes on */
    bool told;        /* the program marks steps itself */
    bool takes_over;  /* the last that began is the program's first */
    bool is_behind;   /* the last, which has ended, is none: see above */
    uint64_t count;   /* of steps, with the last */
    uint64_t number;  /* of the last; those of all lie between first and highest */
    uint64_t first, highest;
    uint64_t highest_before; /* the last */
    /* Since the program marks steps, or the first. */
    uint64_t earlier, earlier_optimized; /* without the last; of them with an optimizer's step */
    bool previous_optimized, optimized;  /* the one before the last, the last */
    uint64_t allocations, refusals;      /* when it began */
};

/* What the replay's on_mark is given, or any event, before the replay has read it. */
enum ml_step_turn ml_step_track_mark(struct ml_step_track *track, const struct ml_event *event);

/* When all events have been read. */
void ml_step_track_close(struct ml_step_track *track);

/* Allocations in counted spaces so far. */
uint64_t ml_step_allocations(const struct ml_replay *replay);

#endif
