/* timeline.c: see timeline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeline.h"

#include <errno.h>

struct builder {
    struct ml_replay replay;
    struct ml_timeline *timeline;
    size_t count;          /* buckets asked for */
    uint64_t next_edge_ns; /* where the bucket being filled ends */
    struct ml_timeline_bucket bucket;
};

uint64_t ml_timeline_edge_ns(uint64_t span_ns, size_t count, size_t i)
{
    return (uint64_t)((ml_u128)span_ns * i / count);
}

static void begin_bucket(struct builder *b)
{
    uint64_t bytes = b->replay.bytes.live_bytes;

    b->bucket = (struct ml_timeline_bucket){bytes, bytes, bytes, false};
    b->next_edge_ns =
        ml_timeline_edge_ns(b->timeline->span_ns, b->count, b->timeline->buckets.len + 1);
}

static int end_bucket(struct builder *b)
{
    b->bucket.last_bytes = b->replay.bytes.live_bytes;
    if (ml_vec_push(&b->timeline->buckets, b->bucket) < 0)
        return -ENOMEM;
    begin_bucket(b);
    return 0;
}

static int advance(struct builder *b, uint64_t time_ns)
{
    while (time_ns >= b->next_edge_ns && b->timeline->buckets.len + 1 < b->count)
        if (end_bucket(b) < 0)
            return -ENOMEM;
    return 0;
}

static int add_event(struct builder *b, const struct ml_event *event)
{
    uint64_t bytes;
    int r = advance(b, event->time_ns);

    if (r == 0)
        r = ml_replay_feed(&b->replay, event);
    bytes = b->replay.bytes.live_bytes;
    if (bytes < b->bucket.min_bytes) {
        b->bucket.min_bytes = bytes;
        b->bucket.min_first = false;
    } else if (bytes > b->bucket.max_bytes) {
        b->bucket.max_bytes = bytes;
        b->bucket.min_first = true;
    }
    return r;
}

static int read_events(struct builder *b, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(b->replay.trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        for (int i = 0; i < n && r == 0; i++) {
            r = add_event(b, &events[i]);
            if (r < 0)
                ml_error_set(err, r, "out of memory");
        }
    ml_cursor_free(cursor);
    return r < 0 ? r : n;
}

int ml_timeline(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                struct ml_timeline *ret, struct ml_error *err)
{
    struct builder b = {.timeline = ret, .count = opts->buckets};
    uint64_t end_ns = ml_trace_info(trace)->end_ns;
    int r = ml_replay_init(&b.replay, trace);

    *ret = (struct ml_timeline){
        .duration_ns = end_ns,
        .span_ns = ml_max_u64(opts->span_ns ? opts->span_ns : end_ns, 1),
    };
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    begin_bucket(&b);
    if (r == 0)
        r = read_events(&b, err);
    if (r == 0) {
        r = end_bucket(&b);
        ret->peak_bytes = b.replay.bytes.peak_bytes;
        ret->peak_time_ns = b.replay.bytes.peak_time_ns;
        ret->health = ml_health_of(&b.replay);
    }
    ml_replay_release(&b.replay);
    return r;
}

void ml_timeline_release(struct ml_timeline *timeline)
{
    ml_vec_release(&timeline->buckets);
    *timeline = (struct ml_timeline){0};
}
