/* named_instants.c: see named_instants.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "named_instants.h"

#include <errno.h>

/* @return the index of the step's entry or -ENOMEM */
static int64_t find_step(struct ml_named_instants *n, uint64_t number)
{
    uint64_t index = n->steps.len;

    if (ml_map_get(&n->step_index, number, &index))
        return (int64_t)index;
    if (ml_map_put(&n->step_index, number, index) < 0 ||
        ml_vec_push(&n->steps, (struct ml_step_instants){.number = number}) < 0)
        return -ENOMEM;
    return (int64_t)index;
}

/* The first step that the program marks replaces those that have its number or a higher one. */
static void forget_from(struct ml_named_instants *n, uint64_t number)
{
    for (size_t i = 0; i < n->steps.len; i++)
        n->steps.items[i].found &= n->steps.items[i].number < number;
}

static int begin_step(struct ml_named_instants *n, uint64_t number)
{
    int64_t index = find_step(n, number);

    if (index < 0)
        return -ENOMEM;
    if (n->track.takes_over)
        forget_from(n, number);
    n->inside = n->steps.items[index].found ? 0 : (uint64_t)index + 1;
    if (n->inside > 0)
        n->steps.items[index].found_in = n->track.count;
    return 0;
}

/* What was taken for a step so far is none. */
static void forget_evaluation(struct ml_named_instants *n)
{
    if (n->inside > 0)
        n->steps.items[n->inside - 1].found = false;
    n->inside = 0;
}

static int on_oom(struct ml_named_instants *n, const struct ml_event *event)
{
    struct ml_moment now = {n->track.replay->events + 1, event->time_ns};

    return ml_vec_push(&n->refusals, (struct ml_refusal_instant){now, event->size});
}

int ml_named_instants_before(struct ml_named_instants *n, const struct ml_event *event)
{
    if (event->kind == ML_OOM)
        return on_oom(n, event);
    if (event->kind != ML_MARK && event->kind != ML_PROCESS_END)
        return 0;
    switch (ml_step_track_mark(&n->track, event)) {
    case ML_STEP_BEGINS:
    case ML_STEP_RESTARTS: return begin_step(n, event->args[1]);
    case ML_STEP_ENDS: n->inside = 0; break;
    case ML_STEP_EVALUATES: forget_evaluation(n); break;
    case ML_STEP_GOES_ON: break;
    }
    return 0;
}

void ml_named_instants_after(struct ml_named_instants *n, struct ml_moment now)
{
    uint64_t bytes = n->track.replay->bytes.live_bytes;
    struct ml_step_instants *step;

    if (n->inside == 0)
        return;
    step = &n->steps.items[n->inside - 1];
    step->end = now;
    if (step->found && bytes <= step->peak_bytes)
        return;
    step->found = true;
    step->peak_bytes = bytes;
    step->peak = now;
}

void ml_named_instants_end(struct ml_named_instants *n)
{
    ml_step_track_close(&n->track);
    if (!n->track.is_behind)
        return;
    for (size_t i = 0; i < n->steps.len; i++)
        n->steps.items[i].found &= n->steps.items[i].found_in != n->track.count;
    n->track.highest = n->track.highest_before;
}

void ml_named_instants_release(struct ml_named_instants *n)
{
    ml_vec_release(&n->steps);
    ml_vec_release(&n->refusals);
    ml_map_release(&n->step_index);
}
