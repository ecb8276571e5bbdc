/* instant.c: see instant.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instant.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "checkpoints.h"
#include "killed_setting.h"
#include "leftovers.h"
#include "memledger/memledger.h"
#include "step_track.h"
#include "samples.h"
#include "text.h"
#include "window_begin.h"

struct scan {
    struct ml_replay replay;
    const struct ml_at *at;
    int64_t device; /* -1: all */
    bool found;
    struct ml_moment moment;   /* the best so far */
    uint64_t best_bytes;       /* live bytes there, for a peak */
    struct ml_moment before;   /* the event before this one */
    struct ml_moment last_end; /* before the program's end; event 0: no process has ended */
    uint64_t ooms;
    uint64_t refused_bytes; /* by the requested refusal */
    struct ml_step_track track;
    bool inside;       /* in the requested step */
    uint64_t found_in; /* the index of that step, from 1 */
};

static uint64_t live_bytes(const struct scan *s)
{
    if (s->device < 0)
        return s->replay.bytes.live_bytes;
    return (size_t)s->device < s->replay.devices.len
               ? s->replay.devices.items[s->device].bytes.live_bytes
               : 0;
}

static bool program_has_memory(const struct scan *s)
{
    uint64_t end_ns = ml_trace_info(s->replay.trace)->end_ns;

    return ml_replay_program_has_memory(&s->replay, s->device, end_ns);
}

static void choose(struct scan *s, struct ml_moment moment)
{
    s->found = true;
    s->moment = moment;
}

static void look_for_peak(struct scan *s, struct ml_moment now)
{
    uint64_t bytes = live_bytes(s);

    if (s->found && bytes <= s->best_bytes)
        return;
    s->best_bytes = bytes;
    choose(s, now);
}

/* ---- Steps ------------------------------------------------------------- */

static bool is_step(const struct ml_at *at)
{
    return at->kind == ML_AT_STEP || at->kind == ML_AT_STEP_END;
}

static void on_mark(struct scan *s, const struct ml_event *event)
{
    switch (ml_step_track_mark(&s->track, event)) {
    case ML_STEP_BEGINS:
    case ML_STEP_RESTARTS:
        if (s->track.takes_over && is_step(s->at))
            s->found = s->found && s->at->number < event->args[1];
        s->inside = !s->found && event->args[1] == s->at->number;
        s->found_in = s->inside ? s->track.count : s->found_in;
        break;
    case ML_STEP_ENDS: s->inside = false; break;
    case ML_STEP_EVALUATES:
        s->found = s->found && !s->inside;
        s->inside = false;
        break;
    case ML_STEP_GOES_ON: break;
    }
}

static void on_process_end(struct scan *s, const struct ml_event *event)
{
    if (ml_replay_ends_program(&s->replay, event, s->device))
        s->last_end = s->before;
    on_mark(s, event);
}

/* ---- The pass ---------------------------------------------------------- */

static bool is_here(const struct scan *s, uint32_t space)
{
    const struct ml_trace *trace = s->replay.trace;
    uint32_t len;
    const char *name = ml_trace_string(trace, ml_trace_space(trace, space)->device, &len);

    return s->device < 0 || ml_intern_find(&s->replay.device_names, name, len) == s->device;
}

static void on_oom(struct scan *s, const struct ml_event *event, struct ml_moment now)
{
    if (is_here(s, event->space) && ++s->ooms == s->at->number && s->at->kind == ML_AT_OOM) {
        s->refused_bytes = event->size;
        choose(s, now);
    }
}

static int on_event(struct scan *s, const struct ml_event *event)
{
    struct ml_moment now = {s->replay.events + 1, event->time_ns};
    int r;

    if (event->kind == ML_MARK)
        on_mark(s, event);
    else if (event->kind == ML_OOM)
        on_oom(s, event, now);
    else if (event->kind == ML_PROCESS_END)
        on_process_end(s, event);
    r = ml_replay_feed(&s->replay, event);
    if (s->at->kind == ML_AT_PEAK || (s->at->kind == ML_AT_STEP && s->inside))
        look_for_peak(s, now);
    else if (s->at->kind == ML_AT_STEP_END && s->inside)
        choose(s, now);
    else if (s->at->kind == ML_AT_TIME && event->time_ns <= s->at->time_ns)
        choose(s, now);
    s->before = now;
    return r;
}

/* The replay itself finds the overall peak: the fast and most common case. */
static int on_events(struct scan *s, const struct ml_event *events, size_t count)
{
    int r = 0;

    if (s->at->kind == ML_AT_PEAK && s->device < 0)
        return ml_replay_feed_all(&s->replay, events, count);
    for (size_t i = 0; i < count && r == 0; i++)
        r = on_event(s, &events[i]);
    return r;
}

static int read_all(struct scan *s, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(s->replay.trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        r = on_events(s, events, (size_t)n);
    if (r == 0)
        r = n;
    else if (n > 0)
        ml_error_set(err, r, "out of memory after %" PRIu64 " events", s->replay.events);
    ml_cursor_free(cursor);
    return r;
}

/* ---- The same from checkpoints ------------------------------------------ */

static bool is_after_end(const struct scan *s)
{
    return s->at->kind == ML_AT_TIME && s->at->time_ns > ml_trace_info(s->replay.trace)->end_ns;
}

/* Counts the events up to the requested time. */
static int read_to_time(struct scan *s, const struct ml_checkpoints *checkpoints,
                        struct ml_error *err)
{
    const struct ml_checkpoint *from = ml_checkpoint_before_time(checkpoints, s->at->time_ns);
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(s->replay.trace, 0, s->at->time_ns, &cursor, err);

    s->moment = from->at;
    s->moment.event =
        ml_max_u64(from->at.event, ml_trace_events_by(s->replay.trace, s->at->time_ns));
    if (r == 0)
        ml_cursor_skip(cursor, s->moment.event);
    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        s->moment.event += (uint64_t)n;
    ml_cursor_free(cursor);
    return r < 0 ? r : n;
}

/* What a pass would have found of the requested step. */
static int take_step(struct scan *s, const struct ml_checkpoints *checkpoints)
{
    struct ml_checkpoint_step step;
    int found = ml_checkpoints_step(checkpoints, s->at->number, &step);

    s->track.count = checkpoints->step_count;
    s->track.first = checkpoints->first_step;
    s->track.highest = checkpoints->highest_step;
    if (found > 0)
        choose(s, s->at->kind == ML_AT_STEP ? step.peak : step.end);
    return found < 0 ? found : 0;
}

static void take_refusal(struct scan *s, const struct ml_checkpoints *checkpoints)
{
    uint64_t number = s->at->number;

    s->ooms = checkpoints->refusals.len;
    if (number == 0 || number > s->ooms)
        return;
    s->refused_bytes = checkpoints->refusals.items[number - 1].bytes;
    choose(s, checkpoints->refusals.items[number - 1].at);
}

/* Whether totals at the end, and the instants in the directory, are enough to decide. */
static bool needs_no_scan(const struct scan *s)
{
    switch (s->at->kind) {
    case ML_AT_PEAK: return s->device < 0;
    case ML_AT_END: return s->device < 0 || program_has_memory(s);
    case ML_AT_TIME: return !is_after_end(s) || s->device < 0 || program_has_memory(s);
    case ML_AT_STEP_END: return true;
    case ML_AT_STEP:
    case ML_AT_OOM: return s->device < 0;
    }
    return false;
}

/* @return 0; -ENOENT if the trace must be read from its start; or another negative errno */
static int use_checkpoints(struct scan *s, struct ml_error *err)
{
    struct ml_checkpoints checkpoints;
    int r = ml_checkpoints_open(s->replay.trace, &checkpoints);

    if (r == 0)
        r = ml_checkpoints_restore_end(&checkpoints, &s->replay);
    s->before = checkpoints.last;
    s->last_end = checkpoints.last_end;
    if (r == 0 && !needs_no_scan(s))
        r = -ENOENT;
    if (r == 0 && s->at->kind == ML_AT_TIME && !is_after_end(s))
        r = read_to_time(s, &checkpoints, err);
    if (r == 0 && is_step(s->at))
        r = take_step(s, &checkpoints);
    if (r == 0 && s->at->kind == ML_AT_OOM)
        take_refusal(s, &checkpoints);
    ml_checkpoints_release(&checkpoints);
    return r == -EBADMSG ? -ENOENT : r;
}

/* If memory is still live, the last event; else the event before the program's last process
 * ended. */
static struct ml_moment end_of(const struct scan *s)
{
    return program_has_memory(s) || s->last_end.event == 0 ? s->before : s->last_end;
}

/* ---- The requested instant --------------------------------------------- */

static void drop_what_follows(struct scan *s)
{
    ml_step_track_close(&s->track);
    if (!s->track.is_behind)
        return;
    s->found = s->found && s->found_in != s->track.count;
    s->track.highest = s->track.highest_before;
}

int ml_no_steps(const struct ml_trace *trace, struct ml_error *err)
{
    if (ml_trace_info(trace)->being_written)
        return ml_error_set(
            err, -ENOENT,
            "the trace has no steps yet: it is still being recorded; memledger marks "
            "the steps of PyTorch and MXNet, other programs call memledger_step(n)");
    return ml_error_set(err, -ENOENT,
                        "the trace has no steps; memledger run marks them for PyTorch and MXNet, "
                        "memledger_step(n) in other programs");
}

static int no_step(const struct scan *s, struct ml_error *err)
{
    const struct ml_step_track *t = &s->track;

    if (t->count == 0)
        return ml_no_steps(s->replay.trace, err);
    if (t->first == t->highest)
        return ml_error_set(err, -ENOENT,
                            "there is no step %" PRIu64 ": the trace has step %" PRIu64,
                            s->at->number, t->first);
    return ml_error_set(err, -ENOENT,
                        "there is no step %" PRIu64 ": the trace has steps %" PRIu64 " to %" PRIu64,
                        s->at->number, t->first, t->highest);
}

/* A process that was killed, as the kernel does where memory runs out; NULL: none was. */
static const struct ml_replay_process *find_killed(const struct ml_replay *replay)
{
    for (size_t i = 0; i < replay->processes.len; i++) {
        const struct ml_replay_process *p = &replay->processes.items[i];
        int status = (int)(p->status - 1);

        if (p->status && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            return p;
    }
    return NULL;
}

static int no_oom(const struct scan *s, struct ml_error *err)
{
    const struct ml_replay_process *killed = find_killed(&s->replay);
    const char *limit = ml_trace_setting(s->replay.trace, ML_SETTING_KILLED_AT_LIMIT);
    char bytes[32];

    if (s->ooms == 0 && killed && limit)
        return ml_error_set(
            err, -ENOENT,
            "no allocation was refused, but the kernel killed process %u (signal 9): its control "
            "group reached its memory limit of %s. memledger table --at end shows what was live "
            "then; ask for less, or raise the limit of the container or the job",
            ml_trace_process(s->replay.trace, killed->number)->pid,
            ml_format_bytes(bytes, (int64_t)strtoull(limit, NULL, 10), ML_UNIT_AUTO));
    if (s->ooms == 0 && killed)
        return ml_error_set(err, -ENOENT,
                            "no allocation was refused%s, but process %u was killed (signal 9), as "
                            "the kernel does when memory runs out; memledger table shows what was "
                            "live at the peak",
                            s->device < 0 ? "" : " on this device",
                            ml_trace_process(s->replay.trace, killed->number)->pid);
    if (s->ooms == 0)
        return ml_error_set(err, -ENOENT,
                            "no allocation was refused%s; memledger table shows live memory at the "
                            "peak",
                            s->device < 0 ? "" : " on this device");
    return ml_error_set(err, -ENOENT,
                        "there is no refusal %" PRIu64 ": the trace has %" PRIu64 ", 'oom:%" PRIu64
                        "' is the last",
                        s->at->number, s->ooms, s->ooms);
}

static int decide(struct scan *s, struct ml_error *err)
{
    switch (s->at->kind) {
    case ML_AT_PEAK:
        if (s->device < 0)
            s->moment = (struct ml_moment){s->replay.peak_event, s->replay.bytes.peak_time_ns};
        return 0;
    case ML_AT_END: s->moment = end_of(s); return 0;
    case ML_AT_TIME:
        if (is_after_end(s))
            s->moment = end_of(s);
        else
            s->moment.time_ns = s->at->time_ns;
        return 0;
    case ML_AT_OOM: return s->found ? 0 : no_oom(s, err);
    case ML_AT_STEP_END:
    case ML_AT_STEP: drop_what_follows(s); return s->found ? 0 : no_step(s, err);
    }
    return -EINVAL;
}

/* A peak among the blocks that were live when the window began is the state at that time. */
static void fill(const struct scan *s, struct ml_instant *ret)
{
    uint64_t end_ns = ml_trace_info(s->replay.trace)->end_ns;

    ret->health = ml_health_of(&s->replay);
    ret->event = s->moment.event;
    ret->time_ns = ml_min_u64(ml_max_u64(s->moment.time_ns, ret->health.window.begin_ns), end_ns);
    ret->refused_bytes = s->refused_bytes;
    ret->last_label_event = s->replay.last_label_event;
    if (is_after_end(s))
        ret->run_ended_ns = end_ns;
}

int ml_at_check_kept(const struct ml_trace *trace, const struct ml_at *at, struct ml_error *err)
{
    uint64_t from_ns = at->kind == ML_AT_TIME ? ml_trace_kept_from(trace) : 0;
    char asked[32], first[32];

    if (at->time_ns >= from_ns)
        return 0;
    return ml_error_set(err, -ENOENT,
                        "--at %s is before the part of the run that was kept; the first time is "
                        "%s (%" PRIu64 "ns)",
                        ml_format_duration_ns(asked, (int64_t)at->time_ns),
                        ml_format_duration_ns(first, (int64_t)from_ns), from_ns);
}

int ml_check_blocks(const struct ml_trace *trace, struct ml_error *err)
{
    if (ml_trace_lacks_blocks(trace))
        return ml_error_set(err, -ENODATA,
                            "the imported file has no allocations; memledger stats shows its "
                            "counters, memledger summary and memledger plot its samples");
    if (ml_trace_is_sample_only(trace))
        return ml_error_set(err, -ENODATA,
                            "this trace has only samples, and no allocations; memledger summary "
                            "and memledger plot show them");
    return 0;
}

int ml_instant_find(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                    struct ml_instant *ret, struct ml_error *err)
{
    return ml_instant_find_capped(trace, at, device, NULL, ret, err);
}

static int begin(struct scan *s, const struct ml_trace *trace, const struct ml_at *at,
                 const char *device, const struct ml_level_caps *caps, struct ml_error *err)
{
    int r;

    *s = (struct scan){.at = at, .track.replay = &s->replay};
    r = ml_replay_init_capped(&s->replay, trace, caps);
    if (r < 0)
        return ml_error_set(err, r, "out of memory");
    return ml_instant_device(&s->replay, device, &s->device, err);
}

int ml_instant_find_capped(const struct ml_trace *trace, const struct ml_at *at, const char *device,
                           const struct ml_level_caps *caps, struct ml_instant *ret,
                           struct ml_error *err)
{
    struct scan s;
    int r = ml_at_check_kept(trace, at, err);

    *ret = (struct ml_instant){.at = *at};
    if (r < 0)
        return r;
    r = begin(&s, trace, at, device, caps, err);
    if (r == 0)
        r = caps ? -ENOENT : use_checkpoints(&s, err);
    if (r == -ENOENT) {
        ml_replay_release(&s.replay);
        r = begin(&s, trace, at, device, caps, err);
        if (r == 0)
            r = read_all(&s, err);
    }
    if (r == 0 && (at->kind != ML_AT_OOM || ml_trace_lacks_blocks(trace)))
        r = ml_check_blocks(trace, err);
    if (r == 0)
        r = decide(&s, err);
    if (r == 0)
        fill(&s, ret);
    ml_replay_release(&s.replay);
    return r;
}

int ml_instant_device(const struct ml_replay *replay, const char *device, int64_t *ret,
                      struct ml_error *err)
{
    char known[256] = "";
    size_t used = 0;
    uint32_t count = ml_intern_len(&replay->device_names);

    *ret = -1;
    if (!device)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (ml_device_is(ml_intern_get(&replay->device_names, i, NULL), device)) {
            *ret = i;
            return 0;
        }
    for (uint32_t i = 0; i < count && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
                                 ml_intern_get(&replay->device_names, i, NULL));
    if (count == 0)
        return ml_error_set(err, -ENODEV, "no memory was recorded in this trace, on any device");
    return ml_error_set(err, -ENODEV, "there is no device '%s' in this trace; there is %s", device,
                        known);
}
