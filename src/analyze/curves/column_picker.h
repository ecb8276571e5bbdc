/* column_picker.h: divides a time into columns, and picks of each column the moment with the lowest
 * total and the one with the highest.
 *
 * A moment lasts from one change of the total to the next. Its bands are read when it ends, because
 * labels that follow an allocation have then arrived. They are therefore the same for any division
 * into columns: the two moments of a column are among those of its halves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COLUMN_PICKER_H
#define ML_ANALYZE_COLUMN_PICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bands.h"

/* The bytes of a moment, in bands of every sort. A sort that is not wanted has only zeros. */
struct ml_band_composition {
    struct ml_bands_moment by[ML_BANDS_BY_COUNT];
};

struct ml_band_column {
    struct ml_band_composition moments[2]; /* the lowest and the highest, in order of time */
    uint64_t first_bytes, low_bytes, high_bytes, last_bytes;
    uint64_t high_ns; /* when the highest total was first reached, not before the column's begin */
    bool low_first;
};

/* Initialise the columns and the callbacks; then call ml_picker_begin. */
struct ml_column_picker {
    struct ml_columns columns;
    void (*compose)(void *ctx, struct ml_band_composition *ret); /* the present bytes */
    int (*emit)(void *emit_ctx,
                const struct ml_band_column *column); /* @return 0 or negative errno */
    void *ctx, *emit_ctx;

    uint64_t from_ns; /* the begin of the first column */
    size_t at;        /* the column that is being filled */
    uint64_t next_ns; /* its end */
    bool begun, ended;
    uint64_t total, since_ns; /* of the present moment */
    struct ml_band_column column;
};

void ml_picker_begin(struct ml_column_picker *picker);

/* Call it before an event that may change the total. @return 0 or that of `emit` */
int ml_picker_leave(struct ml_column_picker *picker, uint64_t time_ns);

/* Call it after the event. */
static inline void ml_picker_enter(struct ml_column_picker *picker, uint64_t time_ns,
                                   uint64_t total)
{
    picker->total = total;
    picker->since_ns = time_ns;
}

/* Call it after the last event of the run, or when `ended` is set: the columns are complete.
 * @end_ns  the end of the run, which gets no columns after it
 * @return 0 or that of `emit` */
int ml_picker_end(struct ml_column_picker *picker, uint64_t end_ns);

/* Makes one column of two that follow each other: the one that the picker would have made. */
void ml_column_join(struct ml_band_column *column, const struct ml_band_column *next);

#endif
