/* timeline_build.h: builds a timeline from a sequence of values. Only the analysis includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TIMELINE_BUILD_H
#define ML_ANALYZE_TIMELINE_BUILD_H

#include "timeline.h"

struct ml_timeline_builder {
    struct ml_timeline *timeline;
    size_t count;            /* requested buckets */
    uint64_t next_edge_ns;   /* end of the current bucket */
    uint64_t now_ns, end_ns; /* the current time; the end of the part shown */
    bool before, past;       /* the current time is before or after the part shown */
    uint64_t bytes;          /* the current value */
    struct ml_timeline_bucket bucket;
};

/* Starts an empty timeline with the value 0. */
void ml_timeline_begin(struct ml_timeline_builder *b, const struct ml_trace *trace,
                       const struct ml_timeline_opts *opts, struct ml_timeline *ret);

/* Sets the first value, for values that have none at the start. @return 0 or -ENOMEM */
int ml_timeline_start_at(struct ml_timeline_builder *b, uint64_t time_ns, uint64_t bytes);

/* Advances the time to `time_ns`, which must not go back. @return 0 or -ENOMEM */
int ml_timeline_advance(struct ml_timeline_builder *b, uint64_t time_ns);

/* Sets the value from the current time on. */
void ml_timeline_set(struct ml_timeline_builder *b, uint64_t bytes);

/* Closes the last bucket. @return 0 or -ENOMEM */
int ml_timeline_end(struct ml_timeline_builder *b);

#endif
