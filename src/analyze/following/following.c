/* following.c: see following.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "following.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "follow.h"
#include "last_memory.h"
#include "leftovers.h"
#include "nanoseconds.h"

#define PROCESSES_MAX 4096 /* with a history */
#define POSTPONED_EVENTS 2048
#define ASK_AGAIN_NS UINT64_C(1000000000)   /* doubled after each refusal */
#define AFTER_LOSS_NS UINT64_C(60000000000) /* the same after each loss */
#define DOUBLINGS_MAX 6

static const struct ml_trace_opts trace_opts = {.no_option = true};

/* ---- Samples and steps ------------------------------------------------------ */

static struct ml_following_sample *sample_of(struct ml_following *f, uint32_t string)
{
    for (size_t i = 0; i < f->samples.len; i++)
        if (ml_trace_same_string(f->trace, f->samples.items[i].string, string))
            return &f->samples.items[i];
    if (ml_vec_push(&f->samples, (struct ml_following_sample){.string = string}) < 0)
        return NULL;
    return &f->samples.items[f->samples.len - 1];
}

static void set_use(struct ml_following *f, uint32_t string, uint32_t process, uint64_t bytes)
{
    for (size_t i = 0; i < f->uses.len; i++) {
        struct ml_following_use *use = &f->uses.items[i];

        if (use->process == process && use->string == string) {
            use->bytes = bytes;
            return;
        }
    }
    (void)ml_vec_push(&f->uses, ((struct ml_following_use){string, process, bytes}));
}

static void on_sample(void *ctx, const struct ml_event *event)
{
    struct ml_following *f = ctx;
    uint64_t bits = event->args[1];
    struct ml_following_sample *sample;
    uint32_t process;

    sample = sample_of(f, (uint32_t)event->args[0]);
    if (!sample)
        return;
    if (bits & ML_SAMPLE_USED)
        sample->used = (struct ml_seen){true, event->args[2]};
    if (bits & ML_SAMPLE_FREE)
        sample->free = (struct ml_seen){true, event->args[3]};
    if (bits & ML_SAMPLE_TOTAL)
        sample->total = (struct ml_seen){true, event->args[4]};
    if (bits & ML_SAMPLE_SHARE || !ml_sample_about(event, &process))
        return;
    sample->by_process = true;
    set_use(f, sample->string, process, event->args[5]);
}

/* The process has ended, and its memory is gone. */
static void forget_uses(struct ml_following *f, uint32_t process)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->uses.len; i++)
        if (f->uses.items[i].process != process)
            f->uses.items[kept++] = f->uses.items[i];
    f->uses.len = kept;
}

/* Memory that is older than the recording is no growth: the history begins with it. */
static void forget_history(struct ml_following *f)
{
    f->total = f->allocations = f->frees = (struct ml_second_history){0};
    f->devices.len = f->processes.len = 0;
    ml_row_history_release(&f->rows);
}

/* A mark of the recording itself. */
static void on_recording_mark(struct ml_following *f, const struct ml_event *event)
{
    if (event->args[0] == ML_MARK_OLDER) {
        forget_history(f);
        return;
    }
    f->is_paused = event->args[0] == ML_MARK_PAUSE;
    f->paused_at_ns = event->time_ns;
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    struct ml_following *f = ctx;
    enum ml_step_turn turn = ml_step_track_mark(&f->steps, event);

    if (event->kind == ML_MARK && ml_mark_is_of_recording(event->args[0]))
        on_recording_mark(f, event);
    if (event->kind == ML_PROCESS_END)
        forget_uses(f, (uint32_t)event->args[0]);
    if (turn == ML_STEP_GOES_ON || turn == ML_STEP_EVALUATES)
        return;
    if (turn != ML_STEP_RESTARTS && !f->steps.is_behind && f->step_begin_ns > 0) {
        f->step_length_ns = event->time_ns - f->step_begin_ns;
        f->last_step_peak_bytes = f->replay.recent_peak.bytes;
    }
    f->step_begin_ns = turn == ML_STEP_ENDS ? 0 : event->time_ns;
    ml_replay_reset_crest(&f->replay, event->time_ns);
}

/* ---- History ------------------------------------------------------------------- */

static uint64_t frees_of(const struct ml_following *f)
{
    uint64_t frees = 0;

    for (size_t i = 0; i < f->replay.spaces.len; i++)
        frees += f->replay.spaces.items[i].counted ? f->replay.spaces.items[i].frees : 0;
    return frees;
}

/* Up to the last event that was read. */
static struct ml_following_totals totals_so_far(const struct ml_following *f)
{
    const struct ml_replay *r = &f->replay;

    return ml_earlier_add(&f->earlier, (struct ml_following_totals){
                                           .events = r->events,
                                           .lost = r->lost,
                                           .refusals = r->ooms,
                                           .allocations = ml_step_allocations(r),
                                           .frees = frees_of(f),
                                           .steps = f->steps.count - f->steps.is_behind,
                                       });
}

struct ml_following_totals ml_following_totals(const struct ml_following *f)
{
    return f->end.event ? f->end.totals : totals_so_far(f);
}

/* Of a device or process without memory so far. */
static struct ml_second_history empty_history(const struct ml_following *f)
{
    struct ml_second_history h = {0};

    ml_second_history_put(&h, f->total.first * ML_NS_PER_SECOND, 0);
    return h;
}

/* Precondition: the totals have been put. */
static void keep_each(struct ml_following *f, uint64_t time_ns)
{
    const struct ml_replay *r = &f->replay;

    while (f->devices.len < r->devices.len)
        if (ml_vec_push(&f->devices, empty_history(f)) < 0)
            return;
    while (f->processes.len < r->processes.len && f->processes.len < PROCESSES_MAX)
        if (ml_vec_push(&f->processes, empty_history(f)) < 0)
            return;
    for (size_t i = 0; i < r->devices.len; i++)
        ml_second_history_put(&f->devices.items[i], time_ns, r->devices.items[i].bytes.live_bytes);
    for (size_t i = 0; i < f->processes.len; i++)
        ml_second_history_put(&f->processes.items[i], time_ns,
                              r->processes.items[i].bytes.live_bytes);
}

static void keep(struct ml_following *f, uint64_t time_ns)
{
    const struct ml_following_totals totals = totals_so_far(f);

    ml_second_history_put(&f->total, time_ns, f->replay.bytes.live_bytes);
    ml_second_history_put(&f->allocations, time_ns, totals.allocations);
    ml_second_history_put(&f->frees, time_ns, totals.frees);
    keep_each(f, time_ns);
}

/* Once in a second of the recording. */
static void keep_second(struct ml_following *f, uint64_t time_ns)
{
    if (!f->total.begun || time_ns / ML_NS_PER_SECOND != f->total.last)
        keep(f, time_ns);
}

/* ---- Reading -------------------------------------------------------------------- */

/* How many of the events are within the second of the first one; at least one. */
static size_t within_second(const struct ml_event *events, size_t count)
{
    uint64_t second = events[0].time_ns / ML_NS_PER_SECOND;
    size_t low = 1;

    if (events[count - 1].time_ns / ML_NS_PER_SECOND == second)
        return count;
    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (events[middle].time_ns / ML_NS_PER_SECOND == second)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The history begins where the file is complete: before, it has only blocks that were live then. */
static void begin_history(struct ml_following *f)
{
    f->earlier_allocations = totals_so_far(f).allocations;
    keep(f, f->earlier.begin_ns);
}

/* Second by second: a slow program has minutes in one block. */
static int feed(struct ml_following *f, const struct ml_event *events, size_t count)
{
    int r = 0;

    while (r == 0 && count > 0) {
        size_t n = within_second(events, count);
        uint64_t repeated = f->earlier.repeated - ml_min_u64(f->earlier.repeated, f->replay.events);

        if (repeated > 0)
            n = (size_t)ml_min_u64(n, repeated);
        r = ml_replay_feed_all(&f->replay, events, n);
        if (r == 0 && f->classes)
            r = ml_following_classes_feed(f->classes, events, n);
        if (r == 0 && repeated == 0)
            keep_second(f, events[n - 1].time_ns);
        else if (r == 0 && repeated == n)
            begin_history(f);
        events += n;
        count -= n;
    }
    return r;
}

/* ---- Nets ------------------------------------------------------------------------ */

static uint64_t later(uint64_t wait_ns, unsigned doublings)
{
    return ml_clock_ns(CLOCK_MONOTONIC) +
           (wait_ns << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX));
}

/* Whether to leave the last block for the next look. A block of few events is about to be replaced
 * by a long one that begins with them, whose net is for all of its events. In a series the block
 * itself has a net if it stays. */
static bool postpones(struct ml_following *f, struct ml_cursor *cursor)
{
    const struct ml_index_entry *block =
        f->series.is_on || f->awaits ? ml_cursor_block(cursor) : NULL;
    struct ml_net net;

    f->postponed = block && block->events < POSTPONED_EVENTS && ml_trace_is_last(f->trace, block);
    if (f->postponed && f->series.is_on)
        f->postponed =
            ml_trace_info(f->trace)->being_written && !ml_net_read(&f->nets, block, &net);
    return f->postponed;
}

static bool takes_net(const struct ml_following *f, const struct ml_net *net)
{
    return ml_replay_takes_net(&f->replay, &f->series, net) &&
           (!f->classes || ml_following_classes_take_net(f->classes, net));
}

/* Takes the net of the next block, if the collector has one.
 * @return 1, 0 if the events are to be read, -ENOMEM, or -EBADMSG if the series broke off */
static int take_net(struct ml_following *f, struct ml_cursor *cursor)
{
    const struct ml_index_entry *block = f->begins ? NULL : ml_cursor_block(cursor);
    bool was_on = f->series.is_on;
    uint64_t last_ns;
    struct ml_net net;
    int r;

    if (!block)
        return 0;
    last_ns = block->last_ns;
    if (!ml_net_read(&f->nets, block, &net) || !takes_net(f, &net))
        return was_on ? -EBADMSG : 0;
    r = ml_replay_feed_net(&f->replay, &f->series, &net);
    if (r == 0 && f->classes)
        r = ml_following_classes_feed_net(f->classes, &net);
    if (r < 0 || !f->series.is_on)
        return r;
    ml_cursor_pass(cursor);
    f->net_blocks++;
    f->awaits = false;
    f->refusals = 0;
    keep_second(f, last_ns);
    return 1;
}

/* Asks for a series where many events had to be read. */
static void ask_for_nets(struct ml_following *f, uint64_t events)
{
    if (f->series.is_on || events < POSTPONED_EVENTS || ml_clock_ns(CLOCK_MONOTONIC) < f->ask_ns ||
        (f->classes && !ml_following_classes_use_nets(f->classes)))
        return;
    ml_net_reader_ask(&f->nets);
    f->awaits = true;
    f->ask_ns = later(ASK_AGAIN_NS, f->refusals++);
}

/* ---- Events ---------------------------------------------------------------------- */

/* @return 1, 0 at the end, or negative errno */
static int read_next(struct ml_following *f, struct ml_cursor *cursor, struct ml_error *err)
{
    const struct ml_event *events;
    int r = take_net(f, cursor);

    if (r == -EBADMSG)
        return r;
    if (r == 0) {
        int n = ml_cursor_next(cursor, &events, err);

        if (n <= 0)
            return n;
        if (f->end.event)
            n = (int)ml_min_u64((uint64_t)n, f->end.event - f->replay.events);
        r = n > 0 ? feed(f, events, (size_t)n) : 0;
        if (r == 0 && f->replay.events == f->end.event)
            return 0;
    }
    return r < 0 ? ml_error_set(err, r, "%s: out of memory", f->path) : 1;
}

/* @return 0; 1 if the series of nets broke off, so that the state is unusable; or negative errno */
static int read_on(struct ml_following *f, struct ml_error *err)
{
    uint64_t before = f->replay.events;
    struct ml_cursor *cursor = NULL;
    int r = ml_cursor_open(f->trace, 0, UINT64_MAX, &cursor, err);

    if (r == 0)
        ml_cursor_skip(cursor, f->replay.events);
    do
        r = r < 0 || postpones(f, cursor) ? r : read_next(f, cursor, err);
    while (r > 0 && !f->postponed);
    ml_cursor_free(cursor);
    if (r == -EBADMSG && err->code == 0)
        return 1;
    if (r < 0)
        return r;
    ml_trace_forget(f->trace, f->replay.events);
    ask_for_nets(f, f->replay.events - before);
    return 0;
}

static void release_state(struct ml_following *f)
{
    ml_following_classes_free(f->classes);
    f->classes = NULL;
    ml_replay_release(&f->replay);
    ml_vec_release(&f->samples);
    ml_vec_release(&f->uses);
    ml_vec_release(&f->devices);
    ml_vec_release(&f->processes);
    f->total = f->allocations = f->frees = (struct ml_second_history){0};
    ml_net_series_release(&f->series);
    f->awaits = f->postponed = false;
    f->steps = (struct ml_step_track){0};
    f->is_paused = false;
    f->step_begin_ns = f->step_length_ns = 0;
    f->step_peak_bytes = f->last_step_peak_bytes = 0;
    ml_net_reader_release(&f->nets);
    ml_trace_free(f->trace);
    f->trace = NULL;
}

static void note_definitions(struct ml_following *f)
{
    f->spaces = ml_trace_spaces(f->trace);
    f->scopes = ml_trace_scopes(f->trace);
    f->strings = ml_trace_strings(f->trace);
}

static int begin(struct ml_following *f, struct ml_error *err)
{
    bool failed = false;
    int r = ml_trace_open(f->path, &trace_opts, &f->trace, err);

    if (r < 0)
        return r;
    r = ml_replay_init(&f->replay, f->trace);
    if (r == 0)
        r = ml_earlier_read(&f->earlier, f->trace);
    f->replay.on_sample = on_sample;
    f->replay.on_mark = on_mark;
    f->replay.ctx = f;
    f->steps.replay = &f->replay;
    if (r == 0 && ml_classes_are_needed(f->trace, &failed))
        r = ml_following_classes_new(f->trace, &f->classes);
    if (r < 0 || failed)
        return ml_error_set(err, -ENOMEM, "%s: out of memory", f->path);
    note_definitions(f);
    ml_net_reader_poll(&f->nets, f->trace, f->classes);
    f->begins = true;
    r = read_on(f, err);
    f->begins = false;
    return r;
}

static void leave_end(struct ml_following *f)
{
    ml_vec_release(&f->end.ended);
    f->end = (struct ml_following_end){0};
}

static int raise_peak(struct ml_earlier *e, enum ml_window_peak_of of, uint32_t number,
                      const struct ml_gauge *bytes)
{
    return ml_earlier_raise(e, of, number,
                            (struct ml_earlier_peak){bytes->peak_bytes, bytes->peak_time_ns});
}

/* What is known when the file is replaced, most likely by the next part of the same recording,
 * which has the same numbers for devices, processes and spaces. */
static int note_earlier(struct ml_following *f)
{
    const struct ml_replay *r = &f->replay;
    const struct ml_following_totals totals = ml_following_totals(f);
    struct ml_earlier *e = &f->earlier;
    int code = raise_peak(e, ML_PEAK_OF_ALL, 0, &r->bytes);

    e->least = totals;
    for (size_t i = 0; code == 0 && i < r->spaces.len; i++) {
        const struct ml_replay_space *space = &r->spaces.items[i];

        code = raise_peak(e, ML_PEAK_OF_SPACE, space->number, &space->bytes);
        if (code == 0)
            code = raise_peak(e, ML_PEAK_OF_DEVICE, ml_trace_space(f->trace, space->number)->device,
                              &r->devices.items[space->device].bytes);
    }
    for (size_t i = 0; code == 0 && i < r->processes.len; i++)
        code = raise_peak(e, ML_PEAK_OF_PROCESS, r->processes.items[i].number,
                          &r->processes.items[i].bytes);
    return code;
}

static int restart(struct ml_following *f, struct ml_error *err)
{
    release_state(f);
    f->restarts++;
    *err = (struct ml_error){0};
    return begin(f, err);
}

/* @return 0; 1 if the events so far mean something else now; or negative errno */
static int learn(struct ml_following *f)
{
    bool failed = false;
    int r = 0;

    if (ml_trace_spaces(f->trace) != f->spaces) {
        r = ml_replay_learn_spaces(&f->replay);
        if (r == 0 && f->classes)
            r = ml_replay_learn_spaces(ml_following_classes_replay(f->classes));
    }
    if (r == 0 && ml_trace_scopes(f->trace) != f->scopes && f->classes)
        r = ml_following_classes_learn(f->classes);
    if (r == 0 && !f->classes && ml_trace_strings(f->trace) != f->strings)
        r = ml_classes_are_needed(f->trace, &failed);
    note_definitions(f);
    return failed ? -ENOMEM : r;
}

int ml_following_poll(struct ml_following *f, struct ml_error *err)
{
    int r;

    if (!f->trace) {
        leave_end(f);
        return restart(f, err) < 0 ? err->code : 1;
    }
    ml_net_reader_poll(&f->nets, f->trace, f->classes);
    f->awaits &= !f->postponed; /* nothing has come instead: it is read now */
    r = ml_trace_grow(f->trace, err);
    if (r == 0 && f->postponed)
        r = 1;
    if (r == -ESTALE) {
        if (note_earlier(f) < 0)
            return ml_error_set(err, -ENOMEM, "%s: out of memory", f->path);
        leave_end(f);
        return restart(f, err) < 0 ? err->code : 1;
    }
    /* It was opened before its writer had locked it. */
    if (r >= 0 && f->end.is_shown && ml_trace_info(f->trace)->being_written) {
        leave_end(f);
        return restart(f, err) < 0 ? err->code : 1;
    }
    if (r > 0) {
        int learnt = learn(f);

        if (learnt < 0)
            return ml_error_set(err, learnt, "%s: out of memory", f->path);
        r = learnt ? restart(f, err) : read_on(f, err);
        if (r == 1 && !learnt) {
            f->ask_ns = later(AFTER_LOSS_NS, f->losses++);
            r = restart(f, err);
        }
        r = r < 0 ? r : 1;
    }
    if (r >= 0)
        keep(f, ml_following_now(f));
    return r;
}

uint64_t ml_following_now(const struct ml_following *f)
{
    return ml_trace_now_ns(f->trace);
}

/* ---- The end of a recording ------------------------------------------------------- */

bool ml_following_has_ended(const struct ml_following *f, uint32_t process)
{
    uint64_t index;

    for (size_t i = 0; i < f->end.ended.len; i++)
        if (f->end.ended.items[i] == process)
            return true;
    return ml_map_get(&f->replay.process_index, process, &index) &&
           f->replay.processes.items[index].ended;
}

static int note_whole(struct ml_following *f)
{
    int r = 0;

    f->end.totals = ml_following_totals(f);
    for (size_t i = 0; r == 0 && i < f->replay.processes.len; i++)
        if (f->replay.processes.items[i].ended)
            r = ml_vec_push(&f->end.ended, f->replay.processes.items[i].number);
    return r;
}

/* Reads the trace again, up to that moment. Steps are those of the whole recording. */
static int go_back(struct ml_following *f, struct ml_moment to, struct ml_error *err)
{
    struct ml_step_track steps = f->steps;
    uint64_t length_ns = f->step_length_ns, peak_bytes = f->last_step_peak_bytes;
    int r;

    f->end.event = to.event;
    f->end.time_ns = to.time_ns;
    r = restart(f, err);
    f->steps = steps;
    f->step_length_ns = length_ns;
    f->last_step_peak_bytes = peak_bytes;
    return r;
}

static int go_to_last_memory(struct ml_following *f, struct ml_error *err)
{
    struct ml_moment to;
    int r = ml_end_of_program(f->path, &to, err);

    if (r == 0)
        r = go_back(f, to, err);
    if (r < 0 || f->replay.bytes.live_bytes > 0)
        return r;
    r = ml_last_memory(f->path, to.event, &to, err);
    if (r < 0)
        return r;
    f->end.all_freed = true;
    return to.event ? go_back(f, to, err) : 0;
}

int ml_following_show_end(struct ml_following *f, struct ml_error *err)
{
    uint64_t end_ns = ml_trace_info(f->trace)->end_ns;
    int r = 0;

    if (f->end.is_shown || ml_trace_info(f->trace)->being_written)
        return 0;
    f->end.is_shown = true;
    f->end.time_ns = end_ns;
    if (f->replay.bytes.peak_bytes == 0 || ml_replay_program_has_memory(&f->replay, -1, end_ns))
        return 0;
    if (note_whole(f) < 0)
        return ml_error_set(err, -ENOMEM, "%s: out of memory", f->path);
    r = go_to_last_memory(f, err);
    if (r == 0)
        keep(f, f->end.time_ns);
    return r;
}

/* ---- Beginning and end ------------------------------------------------------------- */

int ml_following_open(const char *path, struct ml_following **ret, struct ml_error *err)
{
    struct ml_following *f = calloc(1, sizeof(*f));
    int r;

    if (f) {
        ml_net_reader_init(&f->nets);
        f->path = strdup(path);
    }
    if (!f || !f->path) {
        ml_following_free(f);
        return ml_error_set(err, -ENOMEM, "%s: out of memory", path);
    }
    r = begin(f, err);
    if (r < 0) {
        ml_following_free(f);
        return r;
    }
    keep(f, ml_following_now(f));
    *ret = f;
    return 0;
}

void ml_following_free(struct ml_following *f)
{
    if (!f)
        return;
    release_state(f);
    leave_end(f);
    ml_earlier_release(&f->earlier);
    ml_row_history_release(&f->rows);
    free(f->path);
    free(f);
}
