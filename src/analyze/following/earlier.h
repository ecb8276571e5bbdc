/* earlier.h: counters and peaks of the part of a recording that is no longer in its file, because
 * it keeps only its last part; see run --keep. A reader that follows such a recording from file to
 * file never sees a counter or a peak fall.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_EARLIER_H
#define ML_ANALYZE_EARLIER_H

#include "map.h"
#include "trace.h"
#include "window_begin.h"
#include "window_tags.h"

/* Figures of a recording since its start. */
struct ml_following_totals {
    uint64_t events, lost, refusals;
    uint64_t allocations, frees; /* of counted spaces */
    uint64_t steps;              /* begun */
};

struct ml_earlier_peak {
    uint64_t bytes, time_ns;
};

/* All zero bytes is a valid empty one. */
struct ml_earlier {
    uint64_t start_wall_ns;            /* of the recording */
    bool is_window;                    /* the file lacks something … */
    uint64_t begin_ns;                 /* … before this */
    uint64_t repeated;                 /* events at its start that stand for it */
    struct ml_following_totals before; /* without these */
    struct ml_following_totals least;  /* that were known of files before this one */
    ML_VEC(struct ml_earlier_peak) peaks;
    struct ml_map peak_index; /* whose it is -> in peaks */
};

void ml_earlier_release(struct ml_earlier *earlier);

/* Reads it from a file that was just opened. Forgets what is known of another recording.
 * @return 0 or -ENOMEM */
int ml_earlier_read(struct ml_earlier *earlier, const struct ml_trace *trace);

/* A peak that was seen. @return 0 or -ENOMEM */
int ml_earlier_raise(struct ml_earlier *earlier, enum ml_window_peak_of of, uint32_t number,
                     struct ml_earlier_peak peak);

/* The higher of the peak since the file begins and the one before it. */
struct ml_earlier_peak ml_earlier_highest(const struct ml_earlier *earlier,
                                          enum ml_window_peak_of of, uint32_t number,
                                          struct ml_earlier_peak since);

/* Totals since the start. @since  those of the file */
struct ml_following_totals ml_earlier_add(const struct ml_earlier *earlier,
                                          struct ml_following_totals since);

#endif
