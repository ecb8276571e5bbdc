/* window_notes.c: see window_notes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_notes.h"

#include <errno.h>
#include <string.h>

#include "memledger/memledger.h"

/* A key, compared byte by byte: no padding. */
struct key {
    uint64_t kind;
    uint64_t what, which;
};

void ml_window_notes_release(struct ml_window_notes *n)
{
    ml_intern_release(&n->keys);
    ml_vec_release(&n->notes);
}

/* Its number in `notes`, a new one at its first use. */
static int64_t number_of(struct ml_window_notes *n, struct key key)
{
    int64_t number = ml_intern_put(&n->keys, &key, sizeof(key), NULL);

    if (number >= 0 && (size_t)number == n->notes.len &&
        ml_vec_push(&n->notes, (struct ml_window_note){0}))
        return -ENOMEM;
    return number;
}

static int keep(struct ml_window_notes *n, struct key key, const struct ml_event *event)
{
    int64_t number = number_of(n, key);

    if (number < 0)
        return -ENOMEM;
    n->notes.items[number].event = *event;
    return 0;
}

static int forget(struct ml_window_notes *n, struct key key)
{
    int64_t number = ml_intern_find(&n->keys, &key, sizeof(key));

    if (number >= 0)
        n->notes.items[number].event.kind = 0;
    return 0;
}

/* The last sample of each sort: of a device, of a process on it, from inside a process. */
static int on_sample(struct ml_window_notes *n, const struct ml_event *e)
{
    return keep(n, (struct key){ML_SAMPLE, e->args[0], e->args[1]}, e);
}

static int on_mark(struct ml_window_notes *n, const struct ml_event *e)
{
    if (e->args[0] == ML_MARK_NODE)
        return 0;
    if (ml_mark_is_of_recording(e->args[0]))
        return keep(n, (struct key){ML_MARK, e->args[0], 0}, e);
    return keep(n, (struct key){ML_MARK, e->args[0], e->thread}, e);
}

/* One push stands for all that led to the scope. */
static int on_scope(struct ml_window_notes *n, const struct ml_event *e)
{
    struct key key = {ML_PUSH, e->thread, 0};
    struct ml_event push = *e;

    push.kind = ML_PUSH;
    return e->scope ? keep(n, key, &push) : forget(n, key);
}

/* Losses add up. */
static int on_lost(struct ml_window_notes *n, const struct ml_event *e)
{
    int64_t number = number_of(n, (struct key){ML_LOST, e->args[2], 0});
    struct ml_event *sum = number < 0 ? NULL : &n->notes.items[number].event;
    struct ml_event event = *e;

    if (!sum)
        return -ENOMEM;
    if (sum->kind) {
        event.args[0] += sum->args[0];
        event.args[1] = sum->args[1];
    }
    *sum = event;
    return 0;
}

static int on_thread_end(struct ml_window_notes *n, const struct ml_event *e)
{
    forget(n, (struct key){ML_MARK, MEMLEDGER_MARK_PHASE, e->thread});
    forget(n, (struct key){ML_MARK, ML_MARK_TYPE, e->thread});
    return forget(n, (struct key){ML_PUSH, e->thread, 0});
}

int ml_window_notes_feed(struct ml_window_notes *n, const struct ml_event *e)
{
    switch (e->kind) {
    case ML_SAMPLE: return on_sample(n, e);
    case ML_MARK: return on_mark(n, e);
    case ML_PUSH:
    case ML_POP: return on_scope(n, e);
    case ML_COUNTER: return keep(n, (struct key){ML_COUNTER, e->args[0], 0}, e);
    case ML_START: return keep(n, (struct key){ML_START, e->args[0], e->thread}, e);
    case ML_STOP: return forget(n, (struct key){ML_START, e->args[0], e->thread});
    case ML_LOST: return on_lost(n, e);
    case ML_PROCESS_END: return keep(n, (struct key){ML_PROCESS_END, e->args[0], 0}, e);
    case ML_THREAD_END: return on_thread_end(n, e);
    default: return 0;
    }
}

int ml_window_notes_tidy(struct ml_window_notes *n,
                         bool (*is_wanted)(const void *ctx, const struct ml_event *event),
                         const void *ctx)
{
    struct ml_window_notes next = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < n->notes.len; i++) {
        const struct ml_event *event = &n->notes.items[i].event;
        struct key key;

        if (!event->kind || !is_wanted(ctx, event))
            continue;
        memcpy(&key, ml_intern_get(&n->keys, (uint32_t)i, NULL), sizeof(key));
        r = keep(&next, key, event);
    }
    ml_window_notes_release(r == 0 ? n : &next);
    if (r == 0)
        *n = next;
    return r;
}

static int by_time(const void *a, const void *b)
{
    const struct ml_event *x = a, *y = b;

    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int ml_window_notes_list(const struct ml_window_notes *n, struct ml_event **ret, size_t *ret_count)
{
    struct ml_event *events = malloc((n->notes.len + 1) * sizeof(*events));
    size_t count = 0;

    if (!events)
        return -ENOMEM;
    for (size_t i = 0; i < n->notes.len; i++) {
        if (n->notes.items[i].event.kind)
            events[count++] = n->notes.items[i].event;
    }
    if (count > 1)
        qsort(events, count, sizeof(*events), by_time);
    *ret = events;
    *ret_count = count;
    return 0;
}
