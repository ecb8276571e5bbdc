/* timeline.h: live bytes over time, in as many buckets as a picture has columns. Each bucket
 * keeps the lowest, highest and last value, so that the picture hides no peak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TIMELINE_H
#define ML_ANALYZE_TIMELINE_H

#include "health.h"
#include "replay.h"

struct ml_timeline_opts {
    size_t buckets;                   /* at least 1 */
    uint64_t from_ns;                 /* start of the first bucket */
    uint64_t span_ns;                 /* total time of the buckets; 0: to the end of the run */
    const struct ml_level_caps *caps; /* NULL: none */
    size_t module_depth;              /* of bands by module, see bands.h */
};

struct ml_timeline_bucket {
    uint64_t min_bytes, max_bytes, last_bytes;
    bool min_first; /* the lowest value came before the highest */
};

struct ml_timeline {
    uint64_t from_ns, span_ns;
    uint64_t duration_ns;              /* end of the run, or of the part shown */
    uint64_t begin_ns, begin_bytes;    /* the first known value; 0 for values that start at 0 */
    uint64_t peak_bytes, peak_time_ns; /* of the part shown */
    struct ml_health health;
    ML_VEC(struct ml_timeline_bucket)
    buckets; /* up to the end of the run, at most the requested number */
};

/* The start time of bucket `i` of a timeline with `count` buckets. It has a fraction, because
 * buckets are shorter than a nanosecond where events are numbered instead of timed. */
double ml_timeline_time_ns(const struct ml_timeline *timeline, size_t count, size_t i);

/* The start time of one half of a bucket; each of its two moments has one: that of its lowest value
 * and that of its highest, in order of time. */
double ml_timeline_half_ns(const struct ml_timeline *timeline, size_t count, size_t half);

/* The bucket in which the timeline has its first value. */
size_t ml_timeline_first_bucket(const struct ml_timeline *timeline, size_t count);

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_timeline(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                struct ml_timeline *ret, struct ml_error *err);
void ml_timeline_release(struct ml_timeline *timeline);

#endif
