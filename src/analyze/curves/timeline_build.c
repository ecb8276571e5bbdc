/* timeline_build.c: see timeline_build.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeline_build.h"

#include <errno.h>

/* The first whole nanosecond in bucket `i`. */
static uint64_t edge_ns(const struct ml_timeline *timeline, size_t count, size_t i)
{
    return timeline->from_ns + (uint64_t)(((ml_u128)timeline->span_ns * i + count - 1) / count);
}

double ml_timeline_time_ns(const struct ml_timeline *timeline, size_t count, size_t i)
{
    return (double)timeline->from_ns + (double)timeline->span_ns * (double)i / (double)count;
}

double ml_timeline_half_ns(const struct ml_timeline *timeline, size_t count, size_t half)
{
    double from = ml_timeline_time_ns(timeline, count, half / 2);
    double to = ml_timeline_time_ns(timeline, count, half / 2 + 1);

    return half % 2 ? (from + to) / 2 : from;
}

size_t ml_timeline_first_bucket(const struct ml_timeline *timeline, size_t count)
{
    size_t i = 0;

    while (i + 1 < timeline->buckets.len && edge_ns(timeline, count, i + 1) <= timeline->begin_ns)
        i++;
    return i;
}

static void begin_bucket(struct ml_timeline_builder *b)
{
    b->bucket = (struct ml_timeline_bucket){b->bytes, b->bytes, b->bytes, false};
    b->next_edge_ns = edge_ns(b->timeline, b->count, b->timeline->buckets.len + 1);
}

static int end_bucket(struct ml_timeline_builder *b)
{
    b->bucket.last_bytes = b->bytes;
    if (ml_vec_push(&b->timeline->buckets, b->bucket) < 0)
        return -ENOMEM;
    begin_bucket(b);
    return 0;
}

void ml_timeline_begin(struct ml_timeline_builder *b, const struct ml_trace *trace,
                       const struct ml_timeline_opts *opts, struct ml_timeline *ret)
{
    uint64_t run_ns = ml_trace_info(trace)->end_ns, from_ns = opts->from_ns;
    uint64_t span_ns = opts->span_ns ? opts->span_ns : run_ns > from_ns ? run_ns - from_ns : 0;

    *ret = (struct ml_timeline){.from_ns = from_ns, .span_ns = ml_max_u64(span_ns, 1)};
    *b = (struct ml_timeline_builder){.timeline = ret,
                                      .count = opts->buckets,
                                      .end_ns = from_ns + ret->span_ns,
                                      .before = from_ns > 0};
    ret->duration_ns = ml_max_u64(run_ns < b->end_ns ? run_ns : b->end_ns, from_ns);
    begin_bucket(b);
}

int ml_timeline_advance(struct ml_timeline_builder *b, uint64_t time_ns)
{
    b->before = time_ns < b->timeline->from_ns;
    b->past = time_ns > b->end_ns;
    b->now_ns = time_ns;
    while (time_ns >= b->next_edge_ns && b->timeline->buckets.len + 1 < b->count)
        if (end_bucket(b) < 0)
            return -ENOMEM;
    return 0;
}

/* The first value shown, which is the only one so far. */
static void start(struct ml_timeline_builder *b, uint64_t time_ns, uint64_t bytes)
{
    b->bytes = bytes;
    b->timeline->begin_ns = b->timeline->peak_time_ns = time_ns;
    b->timeline->begin_bytes = b->timeline->peak_bytes = bytes;
    begin_bucket(b);
}

int ml_timeline_start_at(struct ml_timeline_builder *b, uint64_t time_ns, uint64_t bytes)
{
    int r = ml_timeline_advance(b, time_ns);
    uint64_t shown_ns = ml_max_u64(time_ns, b->timeline->from_ns);

    start(b, shown_ns < b->end_ns ? shown_ns : b->end_ns, b->past ? 0 : bytes);
    return r;
}

void ml_timeline_set(struct ml_timeline_builder *b, uint64_t bytes)
{
    if (b->past)
        return;
    if (b->before) {
        start(b, b->timeline->from_ns, bytes);
        return;
    }
    b->bytes = bytes;
    if (bytes > b->timeline->peak_bytes) {
        b->timeline->peak_bytes = bytes;
        b->timeline->peak_time_ns = b->now_ns;
    }
    if (bytes < b->bucket.min_bytes) {
        b->bucket.min_bytes = bytes;
        b->bucket.min_first = false;
    } else if (bytes > b->bucket.max_bytes) {
        b->bucket.max_bytes = bytes;
        b->bucket.min_first = true;
    }
}

int ml_timeline_end(struct ml_timeline_builder *b)
{
    return end_bucket(b);
}
