/* window_tags.h: the section of a recording that keeps only its last part: what was dropped.
 * docs/trace-format.md has the tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_TAGS_H
#define ML_WINDOW_TAGS_H

#define ML_WINDOW_VERSION 1

/* Tags of the tables. */
enum ml_window_tag { ML_WINDOW_DROPPED = 1, ML_WINDOW_SPACES = 2, ML_WINDOW_PEAKS = 3 };

/* Fields of the one row of ML_WINDOW_DROPPED. */
enum ml_window_dropped_field {
    ML_DROPPED_VERSION,
    ML_DROPPED_BEGIN_NS,    /* the window begins after the event of this time */
    ML_DROPPED_EVENTS,      /* before it, whether or not the file repeats them */
    ML_DROPPED_ALLOCATIONS, /* of these */
    ML_DROPPED_FREES,
    ML_DROPPED_LOST,
    ML_DROPPED_REPEATED, /* events at the start of the file that stand for them */
    /* As a replay counts them. */
    ML_DROPPED_REFUSALS,
    ML_DROPPED_MADE,  /* allocations in counted spaces, without those that the file repeats */
    ML_DROPPED_FREED, /* frees in counted spaces */
    ML_DROPPED_STEPS, /* without the one whose mark the file repeats */
    ML_DROPPED_FIELDS,
};

/* Fields of a row of ML_WINDOW_SPACES: a space up to the beginning of the window. */
enum ml_window_space_field {
    ML_WINDOW_SPACE_NUMBER,
    ML_WINDOW_SPACE_LIVE_BYTES,
    ML_WINDOW_SPACE_LIVE_BLOCKS,
    ML_WINDOW_SPACE_PEAK_BYTES,
    ML_WINDOW_SPACE_PEAK_NS,
    ML_WINDOW_SPACE_ALLOCATIONS,
    ML_WINDOW_SPACE_ALLOCATED_BYTES,
    ML_WINDOW_SPACE_FREES,
    ML_WINDOW_SPACE_FIELDS,
};

/* Fields of a row of ML_WINDOW_PEAKS: the highest sum of counted spaces before the window. */
enum ml_window_peak_field {
    ML_WINDOW_PEAK_OF, /* enum ml_window_peak_of */
    ML_WINDOW_PEAK_NUMBER,
    ML_WINDOW_PEAK_SUM_BYTES,
    ML_WINDOW_PEAK_SUM_NS,
    ML_WINDOW_PEAK_FIELDS,
};

/* What the number is. */
enum ml_window_peak_of {
    ML_PEAK_OF_ALL,     /* 0 */
    ML_PEAK_OF_DEVICE,  /* the string of its name */
    ML_PEAK_OF_PROCESS, /* its own */
    ML_PEAK_OF_SPACE,   /* its own; only for readers: ML_WINDOW_SPACES has these */
};

#endif
