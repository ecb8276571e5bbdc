/* bands.h: live bytes over time, split into a few bands that add up to the total: by
 * category, by module, by device, or by process; of several traces, by rank.
 *
 * For each column two moments are kept, the one with the lowest total and the one with the
 * highest, in order of time. The bands of a moment add up to its total exactly, so that the
 * picture neither hides a peak nor invents one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BANDS_H
#define ML_ANALYZE_BANDS_H

#include "arena.h"
#include "timeline.h"

#define ML_BANDS_MAX 13 /* at least ML_CATEGORIES */

enum ml_bands_by {
    ML_BANDS_CATEGORY,
    ML_BANDS_MODULE,
    ML_BANDS_DEVICE,
    ML_BANDS_PROCESS,
    ML_BANDS_BY_COUNT,
    ML_BANDS_RANK = ML_BANDS_BY_COUNT, /* of several traces, see job_bands.h */
};

/* What the bands show. */
struct ml_bands_opts {
    enum ml_bands_by by;
    /* By module: 1 for the outermost modules, each with all below it, 2 for those one level below,
     * and so on; a module above has a band of its own memory. 0: the largest modules are split as
     * long as few bands show nearly all memory. */
    size_t depth;
    const char *device; /* counts only this one; NULL: all */
    uint32_t pid;       /* counts only this process; 0: all */
};

struct ml_band {
    const char *name;     /* of a category as in reports; "" for memory without a module */
    bool rest;            /* all others together */
    uint64_t peak_bytes;  /* its own, among the moments */
    uint64_t share_bytes; /* at the highest total */
};

struct ml_bands_moment {
    uint64_t bytes[ML_BANDS_MAX];
};

/* `count` columns from the column `first` on, of `of` columns that divide the time from `from_ns`
 * to from_ns + span_ns. */
struct ml_columns {
    uint64_t from_ns, span_ns;
    size_t of, first, count;
};

/* The first whole nanosecond in a column, counted from `first`. */
uint64_t ml_columns_edge_ns(const struct ml_columns *columns, size_t i);

struct ml_bands {
    struct ml_arena arena;
    enum ml_bands_by by;
    bool from_scopes;         /* the trace has no modules, the bands show its scopes */
    struct ml_timeline total; /* its buckets are the columns; none if they come from a pyramid */
    size_t count;
    struct ml_band list[ML_BANDS_MAX];      /* categories in the order of their numbers */
    ML_VEC(struct ml_bands_moment) moments; /* two for each column */
};

/* The bands of a time, by a replay that starts at the last checkpoint before it, or with the trace.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_bands(const struct ml_trace *trace, enum ml_bands_by by, const struct ml_timeline_opts *opts,
             struct ml_bands *ret, struct ml_error *err);

/* The same for given columns. */
int ml_bands_of_columns(const struct ml_trace *trace, const struct ml_bands_opts *opts,
                        const struct ml_columns *columns, struct ml_bands *ret,
                        struct ml_error *err);
void ml_bands_release(struct ml_bands *bands);

/* Bands without columns, for ml_bands_add. */
void ml_bands_begin(const struct ml_trace *trace, enum ml_bands_by by,
                    const struct ml_columns *columns, struct ml_bands *ret);

/* Appends a column's moments, and keeps the highest total and those of the bands.
 * @first, @second  its moments; @high_ns, when the higher one was reached
 * @return 0 or -ENOMEM */
int ml_bands_add(struct ml_bands *bands, const struct ml_bands_moment *first,
                 const struct ml_bands_moment *second, uint64_t high_ns);

#endif
