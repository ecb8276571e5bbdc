/* step_track.c: see step_track.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "step_track.h"

#include <string.h>

#include "event.h"
#include "memledger/memledger.h"
#include "scope_facts.h"

uint64_t ml_step_allocations(const struct ml_replay *replay)
{
    uint64_t allocations = 0;

    for (size_t i = 0; i < replay->spaces.len; i++)
        allocations += replay->spaces.items[i].counted ? replay->spaces.items[i].allocations : 0;
    return allocations;
}

static const char *name_of(const struct ml_step_track *t, const struct ml_event *mark)
{
    return ml_trace_string(t->replay->trace, (uint32_t)mark->args[2], NULL);
}

/* Automatic steps are numbered without gaps. */
static void take_over(struct ml_step_track *t, uint64_t number)
{
    t->takes_over = true;
    t->count = number > t->first ? ml_min_u64(t->count, number - t->first) : 0;
    t->highest = ml_min_u64(t->highest, number > 0 ? number - 1 : 0);
    t->earlier = t->earlier_optimized = 0;
}

static void count_earlier(struct ml_step_track *t)
{
    t->previous_optimized = t->optimized;
    t->earlier++;
    t->earlier_optimized += t->optimized;
}

static void begin(struct ml_step_track *t, uint64_t number)
{
    t->highest_before = t->highest;
    t->first = t->count > 0 ? ml_min_u64(t->first, number) : number;
    t->highest = t->count > 0 ? ml_max_u64(t->highest, number) : number;
    t->count++;
    t->number = number;
    t->optimized = t->evaluates = false;
    t->allocations = ml_step_allocations(t->replay);
    t->refusals = t->replay->ooms;
    t->open = true;
}

/* Where the step of that number is the last. */
static enum ml_step_turn on_evaluation(struct ml_step_track *t, uint64_t number)
{
    if (!t->open || t->told || t->evaluates || t->number != number)
        return ML_STEP_GOES_ON;
    t->evaluates = true;
    return ML_STEP_EVALUATES;
}

static enum ml_step_turn restart(struct ml_step_track *t)
{
    uint64_t highest_before = t->highest_before;

    t->count--;
    begin(t, t->number);
    t->highest_before = highest_before;
    return ML_STEP_RESTARTS;
}

/* Whether the steps so far were calls before the program made its first optimizer. */
static bool starts_over(const struct ml_step_track *t, uint64_t number)
{
    return t->count > 0 && number == 0;
}

static enum ml_step_turn on_step(struct ml_step_track *t, const struct ml_event *event)
{
    bool is_automatic = strcmp(name_of(t, event), ML_STEP_AUTOMATIC) == 0;

    t->takes_over = false;
    if (strcmp(name_of(t, event), ML_STEP_EVALUATION) == 0)
        return on_evaluation(t, event->args[1]);
    if (t->evaluates && event->args[1] == t->number && is_automatic)
        return restart(t);
    if (t->count > 0)
        count_earlier(t);
    if (!t->told && (!is_automatic || starts_over(t, event->args[1])))
        take_over(t, event->args[1]);
    t->told |= !is_automatic;
    begin(t, event->args[1]);
    return ML_STEP_BEGINS;
}

static bool comes_after(const struct ml_step_track *t)
{
    bool others_optimized =
        t->told ? t->earlier > 0 && t->earlier_optimized == t->earlier : t->previous_optimized;

    if (t->count < 2 || t->optimized)
        return false;
    if (t->evaluates && t->replay->ooms == t->refusals)
        return true;
    if (ml_step_allocations(t->replay) == t->allocations)
        return true;
    return others_optimized && t->replay->ooms == t->refusals;
}

void ml_step_track_close(struct ml_step_track *t)
{
    if (!t->open)
        return;
    t->open = false;
    t->is_behind = comes_after(t);
}

enum ml_step_turn ml_step_track_mark(struct ml_step_track *t, const struct ml_event *event)
{
    uint32_t process;

    if (event->kind == ML_PROCESS_END && t->open && event->args[0] == t->process) {
        ml_step_track_close(t);
        return ML_STEP_ENDS;
    }
    if (event->kind != ML_MARK)
        return ML_STEP_GOES_ON;
    process = ml_trace_thread(t->replay->trace, event->thread)->process;
    if (t->only_pid && ml_trace_process(t->replay->trace, process)->pid != t->only_pid)
        return ML_STEP_GOES_ON;
    if (t->count == 0 && event->args[0] == MEMLEDGER_MARK_STEP)
        t->process = process;
    if (t->count == 0 ? event->args[0] != MEMLEDGER_MARK_STEP : process != t->process)
        return ML_STEP_GOES_ON;
    if (event->args[0] == MEMLEDGER_MARK_STEP)
        return on_step(t, event);
    if (event->args[0] == MEMLEDGER_MARK_PHASE && t->open)
        t->optimized |=
            ml_phase_of_name(name_of(t, event), strlen(name_of(t, event))) == ML_PHASE_OPTIMIZER;
    return ML_STEP_GOES_ON;
}
