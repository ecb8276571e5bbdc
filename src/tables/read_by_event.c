/* read_by_event.c: see read_by_event.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "read_by_event.h"

#include <errno.h>
#include <stdlib.h>

struct state {
    struct ml_cursor *cursor;
    const struct ml_event *events; /* read but not yet in a batch */
    size_t count;
    bool replays;
    struct ml_replay replay;
    bool has_freed;
    struct ml_block freed; /* by the event being fed */
};

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct state *s = ctx;

    (void)event;
    s->freed = *block;
    s->has_freed = true;
}

int ml_by_event_open(const struct ml_trace *trace, void **ret_state, struct ml_error *err)
{
    struct state *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return ml_error_set(err, -ENOMEM, "out of memory");
    r = ml_cursor_open(trace, 0, UINT64_MAX, &s->cursor, err);
    if (r < 0)
        free(s);
    else
        *ret_state = s;
    return r;
}

int ml_by_event_open_replay(const struct ml_trace *trace, void **ret_state, struct ml_error *err)
{
    void *state = NULL;
    struct state *s;
    int r = ml_by_event_open(trace, &state, err);

    if (!state)
        return r;
    s = state;
    s->replays = true;
    r = ml_replay_init(&s->replay, trace);
    s->replay.on_close = on_close;
    s->replay.ctx = s;
    if (r < 0) {
        ml_by_event_close(s);
        return ml_error_set(err, r, "out of memory");
    }
    *ret_state = s;
    return 0;
}

void ml_by_event_close(void *state)
{
    struct state *s = state;

    ml_cursor_free(s->cursor);
    ml_replay_release(&s->replay);
    free(s);
}

static int take(struct state *s, struct ml_batch *b, ml_event_row_fn *row)
{
    const struct ml_event *event = s->events++;

    s->count--;
    s->has_freed = false;
    if (s->replays && ml_replay_feed(&s->replay, event) < 0)
        return -ENOMEM;
    row(b, event, s->has_freed ? &s->freed : NULL);
    return 0;
}

int ml_by_event_fill(void *state, struct ml_batch *b, ml_event_row_fn *row, struct ml_error *err)
{
    struct state *s = state;

    while (ml_batch_room(b) > 0) {
        if (s->count == 0) {
            int n = ml_cursor_next(s->cursor, &s->events, err);

            if (n <= 0)
                return n;
            s->count = (size_t)n;
        }
        if (take(s, b, row) < 0)
            return ml_error_set(err, -ENOMEM, "not enough memory for the live blocks of the trace");
    }
    return 0;
}
