/* summary_places.c: a summary by device and by process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "defs.h"
#include "event_names.h"
#include "memledger/memledger.h"
#include "sampled.h"
#include "summary_tables.h"

void ml_figures_add(struct ml_figures *sum, const struct ml_replay_space *space)
{
    ml_sample_add(&sum->allocations, &sum->allocation_parts, space->allocations,
                  space->allocation_parts);
    sum->allocated_bytes += space->allocated_bytes;
    ml_sample_add(&sum->frees, &sum->free_parts, space->frees, space->free_parts);
    sum->live_bytes += space->bytes.live_bytes;
    ml_sample_add(&sum->live_blocks, &sum->live_parts, space->live_blocks, space->live_parts);
    if (space->drivers_own)
        return;
    sum->left_bytes += space->bytes.live_bytes;
    ml_sample_add(&sum->left_blocks, &sum->left_parts, space->live_blocks, space->live_parts);
}

static void set_peak(struct ml_figures *figures, const struct ml_gauge *gauge)
{
    figures->peak_bytes = gauge->peak_bytes;
    figures->peak_time_ns = gauge->peak_time_ns;
}

/* ---- Devices ----------------------------------------------------------- */

static void add_space(const struct ml_replay_space *s, struct ml_summary_device *d)
{
    d->has_level[s->level] = true;
    ml_figures_add(&d->levels[s->level], s);
    if (s->counted)
        ml_figures_add(&d->counted, s);
}

static void set_peaks(const struct ml_replay_device *from, struct ml_summary_device *d)
{
    set_peak(&d->counted, &from->bytes);
    for (size_t level = 0; level < ML_LEVELS; level++)
        set_peak(&d->levels[level], &from->levels[level]);
}

static int by_device_peak(const void *a, const void *b)
{
    const struct ml_summary_device *x = a, *y = b;

    if (x->counted.peak_bytes != y->counted.peak_bytes)
        return x->counted.peak_bytes < y->counted.peak_bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool device_is_used(const struct ml_summary_device *d)
{
    for (size_t level = 0; level < ML_LEVELS; level++)
        if (d->has_level[level])
            return true;
    return false;
}

int ml_summary_devices(const struct ml_replay *replay, struct ml_summary *ret)
{
    size_t kept = 0;

    for (size_t i = 0; i < replay->devices.len; i++)
        if (ml_vec_push(&ret->devices, (struct ml_summary_device){0}) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < replay->spaces.len; i++) {
        const struct ml_replay_space *s = &replay->spaces.items[i];

        if (ml_replay_has_space(replay, s->number))
            add_space(s, &ret->devices.items[s->device]);
    }
    for (size_t i = 0; i < replay->devices.len; i++) {
        struct ml_summary_device *d = &ret->devices.items[i];
        size_t len;
        const char *name = ml_intern_get(&replay->device_names, (uint32_t)i, &len);

        if (!device_is_used(d))
            continue;
        set_peaks(&replay->devices.items[i], d);
        d->name = ml_arena_dup(&ret->arena, name, len);
        if (!d->name)
            return -ENOMEM;
        ret->devices.items[kept++] = *d;
    }
    ret->devices.len = kept;
    ml_vec_sort(&ret->devices, by_device_peak);
    return 0;
}

size_t ml_summary_used_devices(const struct ml_summary *summary)
{
    size_t n = 0;

    for (size_t i = 0; i < summary->devices.len; i++)
        n += summary->devices.items[i].counted.peak_bytes > 0;
    return n;
}

/* ---- Processes --------------------------------------------------------- */

static void fill_status(struct ml_summary_process *p, uint64_t status_plus_one)
{
    int status = (int)(status_plus_one - 1);

    if (status_plus_one && WIFEXITED(status)) {
        p->ending = ML_ENDING_EXIT;
        p->exit_code = WEXITSTATUS(status);
    } else if (status_plus_one && WIFSIGNALED(status)) {
        p->ending = ML_ENDING_SIGNAL;
        p->signal = WTERMSIG(status);
    } else {
        p->ending = ML_ENDING_UNKNOWN;
    }
}

/* Of a process whose end is not in the trace. */
static enum ml_ending open_ending(const struct ml_trace *trace)
{
    if (ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT))
        return ML_ENDING_NOT_TOLD;
    return ml_trace_info(trace)->has_index ? ML_ENDING_RUNNING : ML_ENDING_UNKNOWN;
}

static void fill_process(const struct ml_replay *replay, uint32_t number,
                         struct ml_summary_process *p)
{
    const struct ml_replay_process *seen;
    uint64_t index;

    p->end_ns = ml_trace_info(replay->trace)->end_ns;
    p->ending = open_ending(replay->trace);
    if (!ml_map_get(&replay->process_index, number, &index))
        return;
    seen = &replay->processes.items[index];
    for (uint32_t s = seen->first_space; s > 0; s = replay->spaces.items[s - 1].next_of_process)
        if (replay->spaces.items[s - 1].counted)
            ml_figures_add(&p->counted, &replay->spaces.items[s - 1]);
    set_peak(&p->counted, &seen->bytes);
    if (!seen->ended)
        return;
    p->end_ns = seen->end_ns;
    fill_status(p, seen->status);
}

/* The number of threads by process number; one pass, since there may be many of both. */
static int count_threads(const struct ml_trace *trace, struct ml_map *ret)
{
    uint32_t numbers = ml_trace_threads(trace);

    for (uint32_t i = 0; i < numbers; i++) {
        const struct ml_thread *thread = ml_trace_thread(trace, i);
        uint64_t count = 0;

        if (thread->tid == 0)
            continue; /* an undefined number */
        ml_map_get(ret, thread->process, &count);
        if (ml_map_put(ret, thread->process, count + 1) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int add_processes(const struct ml_replay *replay, const struct ml_map *threads,
                         struct ml_summary *ret)
{
    uint32_t numbers = ml_trace_processes(replay->trace);

    for (uint32_t i = 0; i < numbers; i++) {
        const struct ml_process *process = ml_trace_process(replay->trace, i);
        struct ml_summary_process p = {
            .number = i, .pid = process->pid, .start_ns = process->start_ns};
        uint64_t count = 0;
        uint32_t len;
        const char *command;

        if (process->pid == 0 || !ml_replay_has_process(replay, i))
            continue;
        ml_map_get(threads, i, &count);
        p.threads = count ? (uint32_t)count : 1; /* the main thread recorded nothing */
        command = ml_trace_string(replay->trace, process->command, &len);
        p.command = ml_arena_dup(&ret->arena, command, len);
        p.how = ml_how_name(process->how);
        if (process->role) {
            const char *role = ml_trace_string(replay->trace, process->role, &len);
            p.role = ml_arena_dup(&ret->arena, role, len);
            p.rank = p.role ? ml_role_rank(p.role) : 0;
        }
        if (process->place) {
            const char *place = ml_trace_string(replay->trace, process->place, &len);
            p.place = ml_arena_dup(&ret->arena, place, len);
        }
        fill_process(replay, i, &p);
        if (!p.command || (process->role && !p.role) || (process->place && !p.place) ||
            ml_vec_push(&ret->processes, p) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct ml_summary_process *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t all_threads(const struct ml_summary *summary)
{
    uint32_t count = 0;

    for (size_t i = 0; i < summary->processes.len; i++)
        count += summary->processes.items[i].threads;
    return count;
}

/* An image that took another's place by exec() is in the same process. Precondition: the list is by
 * number. */
static void join_images(const struct ml_trace *trace, struct ml_summary *ret)
{
    ret->process_count = (uint32_t)ret->processes.len;
    ret->threads = all_threads(ret);
    for (size_t i = 0; i < ret->processes.len; i++) {
        const struct ml_process *process = ml_trace_process(trace, ret->processes.items[i].number);
        struct ml_summary_process key = {.number = (uint32_t)process->parent}, *before;

        if (process->how != ML_EXECED || process->parent < 0)
            continue;
        ret->process_count--;
        ret->threads -= ret->threads > 0; /* the main thread went on */
        before = bsearch(&key, ret->processes.items, i, sizeof(key), by_number);
        if (before)
            before->ending = ML_ENDING_EXEC;
    }
}

const char *ml_ending_name(enum ml_ending ending)
{
    static const char *const names[] = {
        [ML_ENDING_NOT_TOLD] = "", [ML_ENDING_RUNNING] = "running",
        [ML_ENDING_EXIT] = "exit", [ML_ENDING_SIGNAL] = "signal",
        [ML_ENDING_EXEC] = "exec", [ML_ENDING_UNKNOWN] = "unknown",
    };

    return names[ending];
}

static int by_process_peak(const void *a, const void *b)
{
    const struct ml_summary_process *x = a, *y = b;

    if (x->counted.peak_bytes != y->counted.peak_bytes)
        return x->counted.peak_bytes < y->counted.peak_bytes ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

int ml_summary_processes(const struct ml_replay *replay, struct ml_summary *ret)
{
    struct ml_map threads = {0};
    int r = count_threads(replay->trace, &threads);

    if (r == 0)
        r = add_processes(replay, &threads, ret);
    ml_map_release(&threads);
    join_images(replay->trace, ret);
    ml_vec_sort(&ret->processes, by_process_peak);
    return r;
}
