/* timeline.c: see timeline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timeline.h"

#include "each_event.h"
#include "timeline_build.h"

struct reader {
    struct ml_replay replay;
    struct ml_timeline_builder builder;
};

static int add_event(void *ctx, const struct ml_event *event)
{
    struct reader *reader = ctx;
    int r = ml_timeline_advance(&reader->builder, event->time_ns);

    if (r == 0)
        r = ml_replay_feed(&reader->replay, event);
    ml_timeline_set(&reader->builder, reader->replay.bytes.live_bytes);
    return r;
}

int ml_timeline(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                struct ml_timeline *ret, struct ml_error *err)
{
    struct reader reader = {0};
    int r = ml_replay_init_capped(&reader.replay, trace, opts->caps);

    ml_timeline_begin(&reader.builder, trace, opts, ret);
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    if (r == 0)
        r = ml_each_event(trace, add_event, &reader, err);
    if (r == 0) {
        r = ml_timeline_end(&reader.builder);
        ret->health = ml_health_of(&reader.replay);
    }
    ml_replay_release(&reader.replay);
    return r;
}

void ml_timeline_release(struct ml_timeline *timeline)
{
    ml_vec_release(&timeline->buckets);
    *timeline = (struct ml_timeline){0};
}
