/* read_stream.c: see read_stream.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "read_stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const struct ml_table_kind *const ml_tables[] = {
    &ml_table_allocations,
    &ml_table_events,
    &ml_table_labels,
    &ml_table_marks,
    &ml_table_processes,
    &ml_table_samples,
    &ml_table_scopes,
    &ml_table_spaces,
    &ml_table_stacks,
    &ml_table_threads,
    NULL,
};

const struct ml_table_kind *ml_table_find(const char *name)
{
    for (size_t i = 0; ml_tables[i]; i++)
        if (strcmp(ml_tables[i]->name, name) == 0)
            return ml_tables[i];
    return NULL;
}

/* ---- The trace --------------------------------------------------------- */

struct ml_held_trace {
    atomic_uint holders;
    struct ml_trace *trace;
};

struct ml_held_trace *ml_held_take(struct ml_trace *trace)
{
    struct ml_held_trace *held = malloc(sizeof(*held));

    if (held) {
        atomic_init(&held->holders, 1);
        held->trace = trace;
    }
    return held;
}

int ml_held_open(const char *path, bool salvage, struct ml_held_trace **ret, struct ml_error *err)
{
    struct ml_trace_opts opts = {.salvage = salvage};
    struct ml_trace *trace;
    int r = ml_trace_open(path, &opts, &trace, err);

    if (r < 0)
        return r;
    *ret = ml_held_take(trace);
    if (*ret)
        return 0;
    ml_trace_free(trace);
    return ml_error_set(err, -ENOMEM, "%s: out of memory", path);
}

struct ml_held_trace *ml_held_hold(struct ml_held_trace *held)
{
    atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    return held;
}

void ml_held_drop(struct ml_held_trace *held)
{
    /* acq_rel: the last holder frees what the others have read. */
    if (!held || atomic_fetch_sub_explicit(&held->holders, 1, memory_order_acq_rel) != 1)
        return;
    ml_trace_free(held->trace);
    free(held);
}

const struct ml_trace *ml_held_trace(const struct ml_held_trace *held)
{
    return held->trace;
}

/* ---- The stream -------------------------------------------------------- */

struct stream {
    struct ml_held_trace *held;
    const struct ml_table_kind *kind;
    void *state; /* of the table; NULL: not begun */
    bool ended;
    struct ml_batch batch;
    struct ml_error error;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    struct stream *s = stream->private_data;

    return -ml_columns_export(s->kind->columns, s->kind->column_count, ret);
}

static int explain(struct stream *s, int code)
{
    if (code == -E2BIG)
        ml_error_set(&s->error, code,
                     "%s: the names in one column take more than %llu MiB; "
                     "`memledger events` can read the trace",
                     s->kind->name, (unsigned long long)ML_ARROW_DICTIONARY_BYTES_MAX >> 20);
    else if (!s->error.code)
        ml_error_set(&s->error, code, "%s: not enough memory for a batch of rows", s->kind->name);
    return code;
}

static int make_batch(struct stream *s, struct ArrowArray *ret)
{
    int r = ml_batch_begin(&s->batch);

    if (r == 0 && !s->state)
        r = s->kind->open(ml_held_trace(s->held), &s->state, &s->error);
    if (r == 0)
        r = s->kind->fill(s->state, &s->batch, &s->error);
    if (r == 0)
        r = s->batch.error;
    if (r == 0 && s->batch.rows == 0)
        s->ended = true;
    else if (r == 0)
        r = ml_batch_export(&s->batch, ret);
    return r < 0 ? explain(s, r) : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    struct stream *s = stream->private_data;
    struct ArrowArray batch = {0}; /* without a release: the end */

    if (s->error.code)
        return -s->error.code;
    if (!s->ended && make_batch(s, &batch) < 0)
        return -s->error.code;
    *ret = batch;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct stream *s = stream->private_data;

    return s->error.code ? s->error.text : NULL;
}

const struct ml_error *ml_stream_error(const struct ArrowArrayStream *stream)
{
    return &((const struct stream *)stream->private_data)->error;
}

static void release(struct ArrowArrayStream *stream)
{
    struct stream *s = stream->private_data;

    if (s->state)
        s->kind->close(s->state);
    ml_batch_release(&s->batch);
    ml_held_drop(s->held);
    free(s);
    stream->release = NULL;
}

int ml_table_stream(struct ml_held_trace *held, const struct ml_table_kind *kind,
                    struct ArrowArrayStream *ret)
{
    struct stream *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->held = ml_held_hold(held);
    s->kind = kind;
    ml_batch_init(&s->batch, ml_held_trace(held), kind->columns, kind->column_count);
    *ret = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, s};
    return 0;
}
