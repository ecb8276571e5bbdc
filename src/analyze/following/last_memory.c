/* last_memory.c: see last_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "last_memory.h"

#include "instant.h"
#include "replay.h"

static const struct ml_trace_opts trace_opts = {.no_option = true};

int ml_end_of_program(const char *path, struct ml_moment *ret, struct ml_error *err)
{
    const struct ml_at end = {.kind = ML_AT_END};
    struct ml_instant instant;
    struct ml_trace *trace = NULL;
    int r = ml_trace_open(path, &trace_opts, &trace, err);

    if (r == 0)
        r = ml_instant_find(trace, &end, NULL, &instant, err);
    if (r == 0)
        *ret = (struct ml_moment){instant.event, instant.time_ns};
    ml_trace_free(trace);
    return r;
}

static int feed(struct ml_replay *replay, const struct ml_event *events, size_t count,
                struct ml_moment *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        r = ml_replay_feed(replay, &events[i]);
        if (replay->bytes.live_bytes > 0)
            *ret = (struct ml_moment){replay->events, events[i].time_ns};
    }
    return r;
}

static int scan(struct ml_replay *replay, uint64_t until_event, struct ml_moment *ret,
                struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(replay->trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && replay->events < until_event && (n = ml_cursor_next(cursor, &events, err)) > 0)
        r = feed(replay, events, ml_min_u64((uint64_t)n, until_event - replay->events), ret);
    ml_cursor_free(cursor);
    if (r < 0 && !err->code)
        ml_error_set(err, r, "out of memory after %llu events", (unsigned long long)replay->events);
    return r < 0 ? r : n < 0 ? n : 0;
}

int ml_last_memory(const char *path, uint64_t until_event, struct ml_moment *ret,
                   struct ml_error *err)
{
    struct ml_trace *trace = NULL;
    struct ml_replay replay;
    int r = ml_trace_open(path, &trace_opts, &trace, err);

    *ret = (struct ml_moment){0};
    if (r < 0)
        return r;
    r = ml_replay_init(&replay, trace);
    if (r < 0)
        ml_error_set(err, r, "%s: out of memory", path);
    else
        r = scan(&replay, until_event, ret, err);
    ml_replay_release(&replay);
    ml_trace_free(trace);
    return r;
}
