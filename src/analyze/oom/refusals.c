/* refusals.c: see refusals.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "refusals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "each_event.h"
#include "event.h"
#include "killed_setting.h"
#include "map.h"
#include "memledger/memledger.h"
#include "samples.h"

struct scan {
    const struct ml_trace *trace;
    const char *device;
    uint32_t pid;
    struct ml_refusals *ret;
    struct ml_map waiting; /* thread -> its last refusal by the driver, still without an outcome;
                            * or by malloc */
    uint64_t events, ooms;
    bool was_killed;                 /* a process, at a limit */
    struct ml_map processes;         /* number -> index of its last allocation */
    ML_VEC(struct ml_refusal) lasts; /* on the host */
};

static bool is_here(const struct scan *s, uint32_t number)
{
    const struct ml_space *space = ml_trace_space(s->trace, number);

    if (s->pid && ml_trace_process(s->trace, space->process)->pid != s->pid)
        return false;
    return !s->device || ml_device_is(ml_trace_string(s->trace, space->device, NULL), s->device);
}

static struct ml_refusal *waiting_of(struct scan *s, const struct ml_event *event)
{
    uint64_t index;
    struct ml_refusal *refusal;

    if (ml_map_len(&s->waiting) == 0 || !ml_map_get(&s->waiting, event->thread, &index))
        return NULL;
    refusal = &s->ret->list.items[index];
    return ml_trace_same_string(s->trace, ml_trace_space(s->trace, refusal->space)->device,
                                ml_trace_space(s->trace, event->space)->device)
               ? refusal
               : NULL;
}

/* Whether a framework may stand above that reports the same failure. */
static bool may_be_repeated(const struct scan *s, uint32_t space)
{
    const struct ml_space *by = ml_trace_space(s->trace, space);

    return by->level == MEMLEDGER_DRIVER ||
           !strcmp(ml_trace_string(s->trace, by->name, NULL), ML_HEAP_SPACE_NAME);
}

static int on_oom(struct scan *s, const struct ml_event *event)
{
    bool by_driver = ml_trace_space(s->trace, event->space)->level == MEMLEDGER_DRIVER;
    bool below = may_be_repeated(s, event->space);
    struct ml_refusal *before = waiting_of(s, event);
    struct ml_refusal refusal = {
        .number = s->ret->list.len + 1,
        .overall = s->ooms,
        .event = s->events,
        .time_ns = event->time_ns,
        .bytes = event->size,
        .driver_bytes = by_driver ? event->size : 0,
        .thread = event->thread,
        .space = event->space,
        .scope = event->scope,
        .stack = event->stack,
    };

    if (before && (!below || before->bytes == event->size)) {
        before->state = ML_REFUSAL_REPEATED;
        refusal.driver_bytes = before->driver_bytes;
    }
    if (below) {
        if (ml_map_put(&s->waiting, event->thread, s->ret->list.len) < 0)
            return -ENOMEM;
    } else {
        ml_map_take(&s->waiting, event->thread, NULL);
    }
    return ml_vec_push(&s->ret->list, refusal);
}

static void on_alloc(struct scan *s, const struct ml_event *event)
{
    struct ml_refusal *before = waiting_of(s, event);

    if (!before || !before->driver_bytes || event->size < before->bytes ||
        ml_trace_space(s->trace, event->space)->level != MEMLEDGER_DRIVER)
        return;
    before->state = ML_REFUSAL_RECOVERED;
    ml_map_take(&s->waiting, event->thread, NULL);
}

/* ---- Killed processes --------------------------------------------------- */

static int note_last(struct scan *s, const struct ml_event *event)
{
    const struct ml_space *space = ml_trace_space(s->trace, event->space);
    struct ml_refusal last = {
        .bytes = event->size,
        .thread = event->thread,
        .space = event->space,
        .scope = event->scope,
        .stack = event->stack,
        .killed = true,
    };
    uint64_t index;

    if (strcmp(ml_trace_string(s->trace, space->device, NULL), ML_HOST_DEVICE) != 0 ||
        !is_here(s, event->space))
        return 0;
    if (ml_map_get(&s->processes, space->process, &index)) {
        s->lasts.items[index] = last;
        return 0;
    }
    index = s->lasts.len;
    return ml_vec_push(&s->lasts, last) < 0 ? -ENOMEM
                                            : ml_map_put(&s->processes, space->process, index);
}

/* The first that was killed: others may have been killed for it. */
static int on_end(struct scan *s, const struct ml_event *event)
{
    int status = (int)(event->args[1] - 1);
    struct ml_refusal refusal;
    uint64_t index;

    if (event->args[1] == 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL ||
        !ml_map_get(&s->processes, (uint32_t)event->args[0], &index))
        return 0;
    s->was_killed = false;
    refusal = s->lasts.items[index];
    refusal.number = s->ret->list.len + 1;
    refusal.event = s->events - 1;
    refusal.time_ns = event->time_ns - (event->time_ns > 0); /* its memory is still live */
    return ml_vec_push(&s->ret->list, refusal);
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct scan *s = ctx;

    s->events++;
    s->ooms += event->kind == ML_OOM;
    if (event->kind == ML_OOM && is_here(s, event->space))
        return on_oom(s, event);
    if (s->was_killed && event->kind == ML_PROCESS_END)
        return on_end(s, event);
    if (event->kind != ML_ALLOC && event->kind != ML_ALLOC_EX)
        return 0;
    if (ml_map_len(&s->waiting) > 0)
        on_alloc(s, event);
    return s->was_killed ? note_last(s, event) : 0;
}

static void count_states(struct ml_refusals *ret)
{
    for (size_t i = 0; i < ret->list.len; i++) {
        ret->standing += ret->list.items[i].state == ML_REFUSAL_STANDS;
        ret->recovered += ret->list.items[i].state == ML_REFUSAL_RECOVERED;
    }
}

int ml_refusals(const struct ml_trace *trace, const char *device, uint32_t pid,
                struct ml_refusals *ret, struct ml_error *err)
{
    struct scan s = {.trace = trace,
                     .device = device,
                     .pid = pid,
                     .ret = ret,
                     .was_killed = ml_trace_setting(trace, ML_SETTING_KILLED_AT_LIMIT) != NULL};
    int r;

    *ret = (struct ml_refusals){0};
    r = ml_each_event(trace, on_event, &s, err);
    count_states(ret);
    ml_map_release(&s.waiting);
    ml_map_release(&s.processes);
    ml_vec_release(&s.lasts);
    return r;
}

void ml_refusals_release(struct ml_refusals *refusals)
{
    ml_vec_release(&refusals->list);
}
