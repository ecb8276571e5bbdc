/* cursor.c: the events of a trace within a time range, in batches.
 *
 * A batch is small enough to stay in the first-level cache between the decoder and the caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_EVENTS 256

struct ml_cursor {
    const struct ml_trace *t;
    uint8_t type; /* of the blocks to read */
    uint64_t from_ns, to_ns;
    size_t next_block;     /* in t->blocks */
    uint64_t skip;         /* events at the start of the next block that are not wanted */
    uint64_t offset;       /* of the block being decoded */
    bool in_block;         /* it has more events */
    struct ml_error error; /* the failure that ended the reading */
    struct ml_block_reader reader;
    struct ml_decoder decoder;
    struct ml_event events[BATCH_EVENTS];
};

int ml_cursor_open(const struct ml_trace *t, uint64_t from_ns, uint64_t to_ns,
                   struct ml_cursor **ret, struct ml_error *err)
{
    struct ml_cursor *c = calloc(1, sizeof(*c));

    if (!c)
        return ml_error_set(err, -ENOMEM, "%s: not enough memory to read events", t->path);
    ml_trace_reader_init(t, &c->reader);
    c->t = t;
    c->type = ML_BLOCK_EVENTS;
    c->from_ns = from_ns;
    c->to_ns = to_ns;
    *ret = c;
    return 0;
}

int ml_cursor_open_copies(const struct ml_trace *checkpoints, uint8_t type, uint64_t from_ns,
                          uint64_t to_ns, struct ml_cursor **ret, struct ml_error *err)
{
    int code = ml_cursor_open(checkpoints, from_ns, to_ns, ret, err);

    if (!code)
        (*ret)->type = type;
    return code;
}

void ml_cursor_free(struct ml_cursor *c)
{
    if (!c)
        return;
    ml_block_reader_release(&c->reader);
    free(c);
}

void ml_cursor_skip(struct ml_cursor *c, uint64_t events)
{
    events -= ml_min_u64(events, c->t->forgotten_events);
    for (; c->next_block < c->t->blocks.len; c->next_block++) {
        const struct ml_index_entry *e = &c->t->blocks.items[c->next_block];

        if (e->type != ML_BLOCK_EVENTS)
            continue;
        if (e->events > events)
            break;
        events -= e->events;
    }
    c->skip = events;
}

uint64_t ml_trace_events_by(const struct ml_trace *t, uint64_t time_ns)
{
    uint64_t events = t->forgotten_events;

    for (size_t i = 0; i < t->blocks.len; i++) {
        const struct ml_index_entry *e = &t->blocks.items[i];

        if (e->type != ML_BLOCK_EVENTS)
            continue;
        if (e->last_ns > time_ns)
            break;
        events += e->events;
    }
    return events;
}

static bool wants(const struct ml_cursor *c, const struct ml_index_entry *e)
{
    return e->type == c->type && e->first_ns <= c->to_ns && e->last_ns >= c->from_ns;
}

const struct ml_index_entry *ml_cursor_block(struct ml_cursor *c)
{
    const struct ml_column_reader *kinds = &c->decoder.cols[ML_COL_KINDS];

    if ((c->in_block && kinds->next < kinds->count) || c->skip > 0)
        return NULL;
    while (c->next_block < c->t->blocks.len && !wants(c, &c->t->blocks.items[c->next_block]))
        c->next_block++;
    return c->next_block < c->t->blocks.len ? &c->t->blocks.items[c->next_block] : NULL;
}

void ml_cursor_pass(struct ml_cursor *c)
{
    c->in_block = false;
    c->next_block++;
}

bool ml_trace_is_last(const struct ml_trace *t, const struct ml_index_entry *block)
{
    return block + 1 == t->blocks.items + t->blocks.len;
}

/* @return 1, 0 when no block is left, or negative errno with c->error set */
static int open_next_block(struct ml_cursor *c)
{
    while (c->next_block < c->t->blocks.len) {
        const struct ml_index_entry *e = &c->t->blocks.items[c->next_block++];
        int code;

        if (!wants(c, e))
            continue;
        c->offset = e->offset;
        code = ml_block_open_events(&c->reader, e, &c->decoder);
        if (code)
            return ml_trace_block_error(c->t, e->offset, code, c->reader.reason, &c->error);
        c->in_block = true;
        return 1;
    }
    return 0;
}

static void bound_bytes(struct ml_event *e)
{
    if (e->kind != ML_OOM) /* a program may request any size */
        e->size = ml_min_u64(e->size, ML_BYTES_MAX);
    if (e->kind == ML_ALLOC_EX)
        e->args[0] = ml_min_u64(e->args[0], ML_BYTES_MAX);
    for (int i = 2; e->kind == ML_SAMPLE && i < ML_EVENT_ARGS; i++)
        e->args[i] = ml_min_u64(e->args[i], ML_BYTES_MAX);
}

/* Reduces impossible sizes to the largest possible one. */
static void bound_batch(struct ml_cursor *c, int n)
{
    for (int i = 0; i < n; i++) {
        const struct ml_event *e = &c->events[i];

        if (ML_UNLIKELY(e->size > ML_BYTES_MAX || e->kind == ML_SAMPLE || e->kind == ML_ALLOC_EX))
            bound_bytes(&c->events[i]);
    }
}

/* The part of the batch that is wanted; times in a block ascend. */
static int clip(struct ml_cursor *c, int n, const struct ml_event **ret)
{
    int first = 0;

    while (n > 0 && c->events[n - 1].time_ns > c->to_ns) {
        n--;
        c->in_block = false;
    }
    while (first < n && (c->skip > 0 || c->events[first].time_ns < c->from_ns)) {
        first++;
        c->skip -= c->skip > 0;
    }
    *ret = c->events + first;
    return n - first;
}

/* @return as ml_cursor_next, with c->error set on failure; 0 also when no event of this batch
 *         is in the range */
static int next_batch(struct ml_cursor *c, const struct ml_event **ret)
{
    int n = ml_decoder_next(&c->decoder, c->events, BATCH_EVENTS);

    if (n < 0)
        return ml_trace_block_error(c->t, c->offset, -EBADMSG, "columns", &c->error);
    if (!n)
        c->in_block = false;
    bound_batch(c, n);
    return clip(c, n, ret);
}

int ml_cursor_next(struct ml_cursor *c, const struct ml_event **ret, struct ml_error *err)
{
    while (!c->error.code) {
        int n = c->in_block ? next_batch(c, ret) : 0;

        if (n > 0)
            return n;
        if (!c->in_block && !c->error.code && !open_next_block(c))
            return 0;
    }
    return ml_error_set(err, c->error.code, "%s", c->error.text);
}
