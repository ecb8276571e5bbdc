/* ledger_scan_near.c: the scan for a book at a given time, from a checkpoint on.
 *
 * Such a book depends on the last sample up to its time, and on little before it: the first sample,
 * the memory of other processes and the resident memory of each process at their last samples. The
 * copies of samples that come with checkpoints have these. When a process that used the device
 * ended before that time, or perhaps around it, the whole trace is read: see ledger_leaving.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "checkpoints.h"
#include "classify.h"
#include "cuda_spaces.h"
#include "landmarks.h"
#include "ledger_scan.h"
#include "samples.h"

#define FIRST_EVENTS 200000 /* in which each device must have been sampled or used */
#define AFTER_EVENTS 65536  /* in which a process that ends soon must do something */

struct near {
    struct ml_ledger_scan *scan;
    const struct ml_ledger_opts *opts;
    struct ml_checkpoints checkpoints;
    const struct ml_checkpoint *from;
    struct ml_replay end;     /* the totals of the run */
    bool has_ends;            /* a process on one of the devices ended up to the time */
    ML_VEC(uint32_t) ending;  /* processes that end soon after it, and have done nothing since */
    ML_VEC(uint64_t) last_ns; /* by device: of the last sample up to the time; 0: none */
};

/* Whether the book may include the device. */
static bool is_considered(const struct near *n, const char *device)
{
    if (n->opts->device)
        return ml_device_is(device, n->opts->device);
    return strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0;
}

/* ---- Samples of the whole run ------------------------------------------------- */

static bool had_memory(const struct near *n, uint32_t process)
{
    for (size_t i = 0; i < n->end.spaces.len; i++) {
        const struct ml_replay_space *s = &n->end.spaces.items[i];

        if (s->allocations > 0 && n->end.processes.items[s->process].number == process &&
            is_considered(n, ml_intern_get(&n->end.device_names, s->device, NULL)))
            return true;
    }
    return false;
}

static int note_end(struct near *n, const struct ml_event *event)
{
    uint32_t process = (uint32_t)event->args[0];

    if (event->time_ns > n->opts->at.time_ns + ML_LEDGER_LEAVING_NS || !had_memory(n, process))
        return 0;
    n->has_ends |= event->time_ns <= n->opts->at.time_ns;
    return ml_vec_push(&n->ending, process);
}

static int note_sample(void *ctx, const struct ml_event *event)
{
    struct near *n = ctx;
    int64_t device;

    if (event->kind == ML_PROCESS_END)
        return note_end(n, event);
    if (event->kind != ML_SAMPLE)
        return 0;
    device = ml_ledger_scan_device(n->scan, (uint32_t)event->args[0]);
    while (device >= 0 && n->last_ns.len <= (size_t)device)
        if (ml_vec_push(&n->last_ns, 0) < 0)
            return -ENOMEM;
    if (device >= 0 && event->time_ns <= n->opts->at.time_ns &&
        ml_ledger_scan_counts(n->scan, device, event))
        n->last_ns.items[device] = event->time_ns;
    return device < 0 ? -ENOMEM : 0;
}

static int scan_before(void *ctx, const struct ml_event *event)
{
    struct near *n = ctx;

    return ml_ledger_scan_pass(n->scan, event, event->time_ns <= n->from->at.time_ns);
}

/* The checkpoint from which the last samples of all devices are read again. */
static const struct ml_checkpoint *choose_start(const struct near *n)
{
    uint64_t first_ns = n->opts->at.time_ns;

    for (size_t i = 0; i < n->last_ns.len; i++)
        if (n->last_ns.items[i] > 0 && is_considered(n, n->scan->devices.items[i].name))
            first_ns = ml_min_u64(first_ns, n->last_ns.items[i]);
    return first_ns > 0 ? ml_checkpoint_before_time(&n->checkpoints, first_ns - 1)
                        : n->checkpoints.list.items;
}

/* ---- The beginning and the time after -------------------------------------------- */

static bool is_begun(const struct near *n, const struct ml_ledger_scan *first)
{
    for (size_t i = 0; i < first->devices.len; i++) {
        const struct ml_ledger_scan_device *d = &first->devices.items[i];

        if (is_considered(n, d->name) && d->use == ML_LEDGER_NONE &&
            d->kept[ML_KEPT_LATEST].sample.event == 0)
            return false;
    }
    return true;
}

static void take_before(struct near *n, const struct ml_ledger_scan *first)
{
    for (size_t i = 0; i < first->devices.len; i++) {
        const struct ml_ledger_scan_device *d = &first->devices.items[i];
        int64_t index = ml_intern_find(&n->scan->names, d->name, strlen(d->name));

        if (index >= 0) {
            n->scan->devices.items[index].has_before = d->has_before;
            n->scan->devices.items[index].before = d->before;
        }
    }
}

/* The memory in use before the program's own, from the first events.
 * @return 0, or -ENOENT if they do not have it */
static int scan_begin(struct near *n, struct ml_error *err)
{
    const struct ml_trace *trace = n->scan->replay.trace;
    const struct ml_event *events;
    struct ml_ledger_scan first;
    struct ml_cursor *cursor = NULL;
    bool begun = false;
    int count = 1, r = ml_ledger_scan_begin(trace, n->opts, &first);

    if (r == 0)
        r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);
    while (r == 0 && !begun && count > 0 && first.replay.events < FIRST_EVENTS) {
        count = ml_cursor_next(cursor, &events, err);
        for (int i = 0; r == 0 && !begun && i < count; i++) {
            r = ml_ledger_scan_feed(&first, &events[i]);
            begun = is_begun(n, &first);
        }
    }
    if (r == 0 && begun)
        take_before(n, &first);
    ml_cursor_free(cursor);
    ml_ledger_scan_release(&first);
    return r < 0 ? r : begun ? 0 : -ENOENT;
}

static void forget_ending(struct near *n, uint32_t process)
{
    for (size_t i = n->ending.len; i-- > 0;)
        if (n->ending.items[i] == process)
            n->ending.items[i] = n->ending.items[--n->ending.len];
}

/* Whether a process has lost its memory shows only in what follows.
 * @return 0, or -ENOENT if one may have */
static int look_after(struct near *n, struct ml_error *err)
{
    const struct ml_trace *trace = n->scan->replay.trace;
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int count = 1, r = 0;

    if (n->ending.len == 0)
        return 0;
    r = ml_cursor_open(trace, n->opts->at.time_ns + 1, UINT64_MAX, &cursor, err);
    for (int seen = 0; r == 0 && n->ending.len > 0 && count > 0 && seen < AFTER_EVENTS;) {
        count = ml_cursor_next(cursor, &events, err);
        for (int i = 0; i < count; i++, seen++)
            if (ml_ledger_is_own(&events[i]))
                forget_ending(n, ml_trace_thread(trace, events[i].thread)->process);
    }
    ml_cursor_free(cursor);
    return r < 0 ? r : n->ending.len > 0 ? -ENOENT : 0;
}

/* ---- The scan ------------------------------------------------------------------------ */

static int restore(struct near *n)
{
    struct ml_classes classes = {0};
    int r = ml_checkpoint_restore(&n->checkpoints, n->from, &n->scan->replay, &classes);

    ml_classes_release(&classes);
    n->scan->previous_ns = n->from->at.time_ns;
    n->scan->time_event = n->from->at.event;
    for (uint32_t i = 0; r == 0 && i < n->scan->replay.spaces.len; i++)
        if (n->scan->replay.spaces.items[i].allocations > 0)
            r = ml_ledger_scan_enter(n->scan, i);
    return r;
}

static int scan_to_time(struct near *n, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    bool passed = false;
    int count = 1, r = ml_cursor_open(n->scan->replay.trace, 0, UINT64_MAX, &cursor, err);

    if (r == 0)
        ml_cursor_skip(cursor, n->scan->replay.events);
    while (r == 0 && !passed && count > 0) {
        count = ml_cursor_next(cursor, &events, err);
        for (int i = 0; r == 0 && !passed && i < count; i++) {
            passed = events[i].time_ns > n->opts->at.time_ns;
            r = ml_ledger_scan_feed(n->scan, &events[i]);
        }
    }
    ml_cursor_free(cursor);
    return r < 0 ? r : count < 0 ? count : passed ? 0 : -ENOENT;
}

/* Whether only an earlier event shows the memory of other processes. */
static bool others_are_unknown(const struct near *n)
{
    for (size_t i = 0; i < n->scan->devices.len; i++) {
        const struct ml_ledger_scan_device *d = &n->scan->devices.items[i];

        if (is_considered(n, d->name) && d->older == ML_OLDER_OWN &&
            !d->kept[ML_KEPT_LATEST].sample.has_others)
            return true;
    }
    return false;
}

/* What the ledger says about the whole run. */
static int take_end(struct near *n)
{
    ml_replay_release(&n->scan->replay);
    n->scan->replay = n->end;
    n->end = (struct ml_replay){0};
    for (uint32_t i = 0; i < n->scan->replay.spaces.len; i++)
        if (n->scan->replay.spaces.items[i].allocations > 0 && ml_ledger_scan_use(n->scan, i) < 0)
            return -ENOMEM;
    return 0;
}

static int scan(struct near *n, struct ml_error *err)
{
    const struct ml_trace *trace = n->scan->replay.trace;
    int r = ml_totals_at_end(trace, &n->end, err);

    if (r == 0)
        r = ml_each_landmark(trace, ML_BLOCK_SAMPLES, 0, UINT64_MAX, note_sample, n, err);
    if (r == 0 && (n->has_ends || n->scan->devices.len > ML_LEDGER_DEVICES_MAX))
        r = -ENOENT;
    n->from = choose_start(n);
    if (r == 0)
        r = ml_each_landmark(trace, ML_BLOCK_SAMPLES, 0, UINT64_MAX, scan_before, n, err);
    if (r == 0)
        r = look_after(n, err);
    if (r == 0)
        r = scan_begin(n, err);
    if (r == 0)
        r = restore(n);
    if (r == 0 && others_are_unknown(n))
        r = -ENOENT;
    if (r == 0)
        r = scan_to_time(n, err);
    return r < 0 ? r : take_end(n);
}

int ml_ledger_scan_near(const struct ml_trace *trace, const struct ml_ledger_opts *opts,
                        struct ml_ledger_scan *ret, struct ml_error *err)
{
    struct near n = {.scan = ret, .opts = opts};
    int r = ml_ledger_scan_begin(trace, opts, ret);

    if (r == 0 && (opts->at.kind != ML_AT_TIME || ml_checkpoints_open(trace, &n.checkpoints) < 0 ||
                   !n.checkpoints.has_landmarks || opts->at.time_ns > UINT64_MAX / 2))
        r = -ENOENT;
    if (r == 0)
        r = scan(&n, err);
    ml_vec_release(&n.ending);
    ml_vec_release(&n.last_ns);
    ml_replay_release(&n.end);
    ml_checkpoints_release(&n.checkpoints);
    return r == -EBADMSG ? -ENOENT : r;
}
