/* chrome_slices.h: slices of a Chrome trace: scopes by thread, tasks, frames and events of the
 * program, steps, epochs and phases; and instants: markers, failed allocations, losses.
 *
 * Every slice ends: with its own end, that of its thread or process, or that of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_CHROME_SLICES_H
#define ML_EXPORT_CHROME_SLICES_H

#include "chrome_writer.h"
#include "map.h"
#include "vec.h"

#define ML_CHROME_MARKS 3 /* step, epoch, phase */

/* The scopes that a thread has pushed. */
struct ml_chrome_stack {
    uint32_t thread;
    ML_VEC(uint32_t) open;
};

/* A step, epoch or phase of a process lasts until the next. */
struct ml_chrome_mark {
    bool open, named; /* the second: its track has a name */
    uint64_t begin_ns, number;
    uint32_t name; /* string */
};

struct ml_chrome_process {
    uint32_t process;
    struct ml_chrome_mark marks[ML_CHROME_MARKS];
};

struct ml_chrome_slices {
    struct ml_chrome *chrome;
    ML_VEC(struct ml_chrome_stack) threads;
    ML_VEC(struct ml_chrome_process) processes;
    struct ml_map thread_index, process_index; /* number -> index */
    struct ml_map running;                     /* object -> thread that started it */
    int error;                                 /* the first failure */
};

void ml_chrome_slices_init(struct ml_chrome_slices *s, struct ml_chrome *chrome);
void ml_chrome_slices_release(struct ml_chrome_slices *s);
void ml_chrome_slices_event(struct ml_chrome_slices *s, const struct ml_event *event);

/* Ends all open slices. */
void ml_chrome_slices_finish(struct ml_chrome_slices *s);

#endif
