/* occasions.c: see occasions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "occasions.h"

#include "landmarks.h"
#include "memledger/memledger.h"

struct search {
    uint64_t from_ns, to_ns;
    size_t limit;
    struct ml_occasions *ret;
    bool is_paused; /* the last pause has not ended */
};

static bool from_mark(const struct ml_event *event, struct ml_occasion *ret)
{
    switch (event->args[0]) {
    case MEMLEDGER_MARK_STEP: ret->kind = ML_OCCASION_STEP; break;
    case MEMLEDGER_MARK_EPOCH: ret->kind = ML_OCCASION_EPOCH; break;
    case MEMLEDGER_MARK_PHASE: ret->kind = ML_OCCASION_PHASE; break;
    default: return false;
    }
    if (ret->kind == ML_OCCASION_PHASE)
        ret->name = (uint32_t)event->args[2];
    else
        ret->number = event->args[1];
    return true;
}

static bool from_event(const struct ml_event *event, struct ml_occasion *ret)
{
    *ret = (struct ml_occasion){.time_ns = event->time_ns};
    switch (event->kind) {
    case ML_MARK: return from_mark(event, ret);
    case ML_MARKER:
        ret->kind = ML_OCCASION_MARKER;
        ret->name = (uint32_t)event->args[1];
        return true;
    case ML_OOM:
        ret->kind = ML_OCCASION_OOM;
        ret->number = event->size;
        return true;
    default: return false;
    }
}

/* All processes are paused at once. */
static int on_pause(struct search *s, const struct ml_event *event)
{
    bool begins = event->args[0] == ML_MARK_PAUSE;
    struct ml_pause pause = {begins ? event->time_ns : s->from_ns, s->to_ns};
    int r = 0;

    if (begins == s->is_paused && s->ret->pauses.len > 0)
        return 0;
    if (!s->is_paused)
        r = ml_vec_push(&s->ret->pauses, pause);
    if (r == 0 && !begins)
        s->ret->pauses.items[s->ret->pauses.len - 1].to_ns = event->time_ns;
    s->is_paused = begins;
    return r;
}

static int visit(void *ctx, const struct ml_event *event)
{
    struct search *s = ctx;
    struct ml_occasion found;

    if (event->time_ns < s->from_ns || event->time_ns > s->to_ns)
        return 0;
    if (event->kind == ML_MARK && ml_mark_is_pause(event->args[0]))
        return on_pause(s, event);
    if (!from_event(event, &found))
        return 0;
    if (s->ret->list.len == s->limit) {
        s->ret->left_out++;
        return 0;
    }
    return ml_vec_push(&s->ret->list, found);
}

int ml_occasions(const struct ml_trace *trace, uint64_t from_ns, uint64_t to_ns, size_t limit,
                 struct ml_occasions *ret, struct ml_error *err)
{
    struct search s = {.from_ns = from_ns, .to_ns = to_ns, .limit = limit, .ret = ret};

    *ret = (struct ml_occasions){0};
    return ml_each_landmark(trace, ML_BLOCK_LANDMARKS, from_ns, to_ns, visit, &s, err);
}

void ml_occasions_release(struct ml_occasions *occasions)
{
    ml_vec_release(&occasions->list);
    ml_vec_release(&occasions->pauses);
}

const char *ml_occasion_kind_name(enum ml_occasion_kind kind)
{
    static const char *const names[] = {"step", "epoch", "phase", "marker", "oom"};

    return names[kind];
}
