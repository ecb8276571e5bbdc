/* refusals.c: see refusals.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "refusals.h"

#include <errno.h>
#include <string.h>

#include "each_event.h"
#include "event.h"
#include "map.h"
#include "memledger/memledger.h"
#include "samples.h"

struct scan {
    const struct ml_trace *trace;
    const char *device;
    struct ml_refusals *ret;
    struct ml_map waiting; /* thread -> its last refusal by the driver, still without an outcome;
                            * or by malloc */
    uint64_t events, ooms;
};

static bool is_here(const struct scan *s, uint32_t space)
{
    return !s->device ||
           ml_device_is(ml_trace_string(s->trace, ml_trace_space(s->trace, space)->device, NULL),
                        s->device);
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

static int on_event(void *ctx, const struct ml_event *event)
{
    struct scan *s = ctx;

    s->events++;
    s->ooms += event->kind == ML_OOM;
    if (event->kind == ML_OOM && is_here(s, event->space))
        return on_oom(s, event);
    if ((event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX) && ml_map_len(&s->waiting) > 0)
        on_alloc(s, event);
    return 0;
}

static void count_states(struct ml_refusals *ret)
{
    for (size_t i = 0; i < ret->list.len; i++) {
        ret->standing += ret->list.items[i].state == ML_REFUSAL_STANDS;
        ret->recovered += ret->list.items[i].state == ML_REFUSAL_RECOVERED;
    }
}

int ml_refusals(const struct ml_trace *trace, const char *device, struct ml_refusals *ret,
                struct ml_error *err)
{
    struct scan s = {.trace = trace, .device = device, .ret = ret};
    int r;

    *ret = (struct ml_refusals){0};
    r = ml_each_event(trace, on_event, &s, err);
    count_states(ret);
    ml_map_release(&s.waiting);
    return r;
}

void ml_refusals_release(struct ml_refusals *refusals)
{
    ml_vec_release(&refusals->list);
}
