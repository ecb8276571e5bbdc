/* timeline_build.h: makes a timeline from values as they come. Only the analysis
 * includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TIMELINE_BUILD_H
#define ML_ANALYZE_TIMELINE_BUILD_H

#include "timeline.h"

struct ml_timeline_builder {
    struct ml_timeline *timeline;
    size_t count;            /* buckets asked for */
    uint64_t next_edge_ns;   /* where the bucket being filled ends */
    uint64_t now_ns, end_ns; /* the time now; behind it nothing is shown */
    bool before, past;       /* the time now is not shown */
    uint64_t bytes;          /* the value now */
    struct ml_timeline_bucket bucket;
};

/* Begins an empty timeline with the value 0. */
void ml_timeline_begin(struct ml_timeline_builder *b, const struct ml_trace *trace,
                       const struct ml_timeline_opts *opts, struct ml_timeline *ret);

/* For values that are not known before: the first one. @return 0 or -ENOMEM */
int ml_timeline_start_at(struct ml_timeline_builder *b, uint64_t time_ns, uint64_t bytes);

/* The time is now `time_ns`, which never goes back. @return 0 or -ENOMEM */
int ml_timeline_advance(struct ml_timeline_builder *b, uint64_t time_ns);

/* The value is `bytes` from now on. */
void ml_timeline_set(struct ml_timeline_builder *b, uint64_t bytes);

/* Closes the last bucket. @return 0 or -ENOMEM */
int ml_timeline_end(struct ml_timeline_builder *b);

#endif
