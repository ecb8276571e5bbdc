/* window_begin.h: where a recording begins that kept only its last part, and what came before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_WINDOW_BEGIN_H
#define ML_ANALYZE_WINDOW_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "replay.h"

struct ml_window_begin {
    bool is_window;            /* false: the trace has everything, and the rest is 0 */
    uint64_t begin_ns, end_ns; /* the second: of the recording */
    uint64_t begin_wall_ns;
    uint64_t events, allocations, frees; /* before it */
    uint64_t repeated;                   /* events at the start of the trace that stand for them */
    /* In counted spaces, without those that the trace repeats; allocations that were refused; steps
     * without the one whose mark the trace repeats. 0 in a trace of an older version. */
    uint64_t made, freed, refusals, steps;
    /* The largest peak before it of a space that has had a lower one since; 0: none. */
    uint64_t peak_bytes, peak_ns;
    char peak_place[64]; /* its device and name */
};

/* @replay  has read the trace
 * @return  without numbers if the section is damaged */
struct ml_window_begin ml_window_begin_of(const struct ml_replay *replay);

/* The same without peaks. */
struct ml_window_begin ml_window_begin_of_trace(const struct ml_trace *trace);

typedef int ml_on_window_row(void *ctx, const uint64_t *row);

/* Visits the peaks of everything, of devices and of processes before it. The rows have the fields
 * of enum ml_window_peak_field. @return 0, or the first other result of `on_peak` */
int ml_window_peaks(const struct ml_trace *trace, ml_on_window_row *on_peak, void *ctx);

/* The same for spaces, with the fields of enum ml_window_space_field. */
int ml_window_spaces(const struct ml_trace *trace, ml_on_window_row *on_space, void *ctx);

/* The time from which on the trace is complete. A trace whose beginning was dropped has, of the
 * time before, only those blocks that were live then. @return 0: it has everything */
uint64_t ml_trace_kept_from(const struct ml_trace *trace);

#endif
