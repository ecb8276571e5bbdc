/* steps.c: see steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "steps.h"

#include <errno.h>

#include "memledger/memledger.h"

static uint64_t count_frees(const struct ml_replay *replay)
{
    uint64_t frees = 0;

    for (size_t i = 0; i < replay->spaces.len; i++)
        frees += replay->spaces.items[i].counted ? replay->spaces.items[i].frees : 0;
    return frees;
}

/* Devices without memory in the step are left out. */
static int add_devices(struct ml_step_book *book, struct ml_step *step)
{
    const struct ml_replay *replay = book->replay;
    struct ml_steps *steps = book->steps;

    step->first_device = steps->devices.len;
    for (size_t i = 0; i < replay->devices.len; i++) {
        struct ml_step_device device = {(uint32_t)i, replay->devices.items[i].crest_bytes};

        if (device.peak_bytes == 0)
            continue;
        if (ml_vec_push(&steps->devices, device) < 0)
            return -ENOMEM;
        step->device_count++;
    }
    return 0;
}

static int name_devices(const struct ml_replay *replay, struct ml_steps *steps)
{
    for (size_t i = 0; i < replay->devices.len; i++) {
        size_t len;
        const char *name = ml_intern_get(&replay->device_names, (uint32_t)i, &len);
        const char *copy = ml_arena_dup(&steps->arena, name, len);

        if (!copy || ml_vec_push(&steps->device_names, copy) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- Pauses ------------------------------------------------------------ */

/* The time of a pause in the current step, up to now. */
static uint64_t pause_until(const struct ml_step_book *book, uint64_t time_ns)
{
    return book->is_paused && time_ns > book->paused_at_ns ? time_ns - book->paused_at_ns : 0;
}

static void note_pause(struct ml_step_book *book, const struct ml_event *event)
{
    if (event->kind != ML_MARK)
        return;
    if (event->args[0] == ML_MARK_PAUSE && !book->is_paused) {
        book->is_paused = true;
        book->pause_steps = 0;
        book->paused_at_ns = event->time_ns;
    } else if (event->args[0] == ML_MARK_RESUME) {
        book->paused_ns += pause_until(book, event->time_ns);
        book->is_paused = false;
    }
}

uint64_t ml_step_duration_ns(const struct ml_step *step)
{
    uint64_t ns = step->end_ns > step->begin_ns ? step->end_ns - step->begin_ns : 0;

    return ns - ml_min_u64(ns, step->paused_ns);
}

bool ml_steps_paused(const struct ml_steps *steps)
{
    bool paused = steps->has_after && steps->after.paused_ns > 0;

    for (size_t i = 0; i < steps->list.len; i++)
        paused |= steps->list.items[i].paused_ns > 0;
    for (size_t i = 0; i < steps->evaluations.len; i++)
        paused |= steps->evaluations.items[i].paused_ns > 0;
    return paused;
}

/* ---- Steps ------------------------------------------------------------- */

static int end_step(struct ml_step_book *book, uint64_t event, uint64_t time_ns)
{
    const struct ml_replay *replay = book->replay;
    struct ml_step *step = &book->steps->list.items[book->steps->list.len - 1];

    step->end_ns = time_ns;
    step->paused_ns = book->paused_ns + pause_until(book, time_ns);
    step->end_event = event;
    step->end_bytes = replay->bytes.live_bytes;
    step->peak_bytes = replay->recent_peak.bytes;
    step->peak_time_ns = replay->recent_peak.time_ns;
    step->peak_event = replay->recent_peak.event;
    step->allocations = ml_step_allocations(replay) - book->allocations;
    step->frees = count_frees(replay) - book->frees;
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        step->category_bytes[i] = replay->recent_peak.categories[i];
    book->open = false;
    return add_devices(book, step);
}

/* A thread may still mark one step when a pause begins; a second means that the end of the pause is
 * missing, as in a damaged trace. */
static void doubt_pause(struct ml_step_book *book)
{
    if (book->is_paused && ++book->pause_steps > 1)
        book->is_paused = false;
}

static int begin_step(struct ml_step_book *book, const struct ml_event *event)
{
    struct ml_step step = {.number = event->args[1], .begin_ns = event->time_ns};

    doubt_pause(book);
    if (ml_vec_push(&book->steps->list, step) < 0)
        return -ENOMEM;
    book->allocations = ml_step_allocations(book->replay);
    book->frees = count_frees(book->replay);
    book->paused_ns = 0;
    book->paused_at_ns = event->time_ns;
    ml_replay_reset_crest(book->replay, event->time_ns);
    book->open = true;
    return 0;
}

/* The program's first step replaces automatic ones. */
static void take_over(struct ml_steps *steps, uint64_t number)
{
    while (steps->list.len > 0 && steps->list.items[steps->list.len - 1].number >= number)
        steps->list.len--;
    while (steps->evaluations.len > 0 &&
           steps->evaluations.items[steps->evaluations.len - 1].number >= number)
        steps->evaluations.len--;
}

/* What was taken for a step so far was an evaluation before it. */
static int set_apart_evaluation(struct ml_steps *steps)
{
    if (steps->list.len == 0)
        return 0;
    return ml_vec_push(&steps->evaluations, steps->list.items[--steps->list.len]);
}

static int on_restart(struct ml_step_book *book, const struct ml_event *event)
{
    int r = book->open ? end_step(book, book->replay->events - 1, event->time_ns) : 0;

    if (r == 0)
        r = set_apart_evaluation(book->steps);
    return r < 0 ? r : begin_step(book, event);
}

static int on_begin(struct ml_step_book *book, const struct ml_event *event)
{
    int r = book->open ? end_step(book, book->replay->events - 1, event->time_ns) : 0;

    if (book->track.takes_over)
        take_over(book->steps, event->args[1]);
    if (book->steps->list.len == 0)
        book->steps->peak_before_bytes = book->replay->bytes.peak_bytes;
    return r < 0 ? r : begin_step(book, event);
}

static int note_process(struct ml_step_book *book, const struct ml_event *event)
{
    const struct ml_trace *trace = book->replay->trace;
    struct ml_steps *steps = book->steps;
    uint32_t pid;

    if (event->kind != ML_MARK || event->args[0] != MEMLEDGER_MARK_STEP)
        return 0;
    pid = ml_trace_process(trace, ml_trace_thread(trace, event->thread)->process)->pid;
    for (size_t i = 0; i < steps->pids.len; i++)
        if (steps->pids.items[i] == pid)
            return 0;
    return ml_vec_push(&steps->pids, pid);
}

void ml_step_book_mark(struct ml_step_book *book, const struct ml_event *event)
{
    if (book->failed == 0)
        book->failed = note_process(book, event);
    if (book->failed < 0)
        return;
    note_pause(book, event);
    book->track.replay = book->replay;
    switch (ml_step_track_mark(&book->track, event)) {
    case ML_STEP_BEGINS: book->failed = on_begin(book, event); break;
    case ML_STEP_RESTARTS: book->failed = on_restart(book, event); break;
    case ML_STEP_ENDS:
        book->failed = end_step(book, book->replay->events - 1, event->time_ns);
        break;
    case ML_STEP_EVALUATES:
    case ML_STEP_GOES_ON: break;
    }
}

static void set_apart_what_follows(struct ml_steps *steps)
{
    struct ml_step last = steps->list.items[--steps->list.len];

    steps->has_after = last.allocations > 0;
    steps->after = last;
    if (steps->list.len > 0 && last.peak_bytes > steps->list.items[steps->list.len - 1].end_bytes)
        steps->after_rise_bytes =
            last.peak_bytes - steps->list.items[steps->list.len - 1].end_bytes;
}

int ml_step_book_close(struct ml_step_book *book)
{
    const struct ml_replay *replay = book->replay;

    if (book->open && book->failed == 0)
        book->failed = end_step(book, replay->events, ml_trace_info(replay->trace)->end_ns);
    ml_step_track_close(&book->track);
    if (book->track.count > 0)
        book->steps->pid = ml_trace_process(replay->trace, book->track.process)->pid;
    if (book->track.is_behind && book->failed == 0)
        set_apart_what_follows(book->steps);
    if (book->steps->list.len > 0 && book->failed == 0)
        book->failed = name_devices(replay, book->steps);
    return book->failed;
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    ml_step_book_mark(ctx, event);
}

int ml_steps_read(const struct ml_trace *trace, const struct ml_classes *classes,
                  struct ml_steps *ret, struct ml_error *err)
{
    struct ml_replay replay;
    struct ml_step_book book = {.replay = &replay, .steps = ret};
    int closed, r = ml_replay_init(&replay, trace);

    *ret = (struct ml_steps){0};
    ml_replay_classify(&replay, classes);
    replay.on_mark = on_mark;
    replay.ctx = &book;
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    else
        r = ml_replay_trace(&replay, UINT64_MAX, err);
    closed = ml_step_book_close(&book);
    if (r == 0 && closed < 0)
        r = ml_error_set(err, closed, "out of memory");
    ml_replay_release(&replay);
    return r;
}

void ml_steps_release(struct ml_steps *steps)
{
    ml_arena_release(&steps->arena);
    ml_vec_release(&steps->list);
    ml_vec_release(&steps->evaluations);
    ml_vec_release(&steps->devices);
    ml_vec_release(&steps->device_names);
    ml_vec_release(&steps->pids);
    *steps = (struct ml_steps){0};
}

const struct ml_step *ml_steps_find(const struct ml_steps *steps, uint64_t number)
{
    for (size_t i = 0; i < steps->list.len; i++)
        if (steps->list.items[i].number == number)
            return &steps->list.items[i];
    return NULL;
}

bool ml_steps_grew_after(const struct ml_steps *steps)
{
    return steps->has_after && steps->after_rise_bytes > 0 &&
           steps->after_rise_bytes >= steps->after.peak_bytes / 100;
}

const struct ml_step *ml_steps_highest(const struct ml_steps *steps)
{
    const struct ml_step *highest = steps->list.len ? &steps->list.items[0] : NULL;

    for (size_t i = 1; i < steps->list.len; i++)
        if (steps->list.items[i].peak_bytes > highest->peak_bytes)
            highest = &steps->list.items[i];
    return highest;
}
