/* process_steps.c: see process_steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "process_steps.h"

#include <errno.h>

static const struct ml_summary_process *process_of(const struct ml_summary *summary, uint32_t pid)
{
    for (size_t i = 0; i < summary->processes.len; i++)
        if (summary->processes.items[i].pid == pid)
            return &summary->processes.items[i];
    return NULL;
}

const struct ml_summary_process *ml_steps_process(const struct ml_summary *summary)
{
    return process_of(summary, summary->steps.pid);
}

static bool marks_steps(const struct ml_steps *steps, uint32_t pid)
{
    for (size_t i = 0; i < steps->pids.len; i++)
        if (steps->pids.items[i] == pid)
            return true;
    return false;
}

static bool is_wanted(const struct ml_process_steps_opts *opts, const struct ml_summary *all,
                      uint32_t pid)
{
    const struct ml_summary_process *process = process_of(all, pid);

    if (opts->caps.only_pid)
        return pid == opts->caps.only_pid;
    return !opts->has_rank || (process && process->rank == opts->rank + 1);
}

static int add(struct ml_process_steps *to, const struct ml_summary *summary, struct ml_error *err)
{
    return ml_vec_push(&to->list, *summary) < 0 ? ml_error_set(err, -ENOMEM, "out of memory") : 0;
}

/* A process that only evaluated has no steps. */
static int add_process(const struct ml_trace *trace, const struct ml_process_steps_opts *opts,
                       uint32_t pid, struct ml_process_steps *ret, struct ml_error *err)
{
    struct ml_level_caps caps = opts->caps;
    const struct ml_summary_opts own = {.caps = &caps, .steps_pid = pid};
    struct ml_summary summary;
    int r;

    caps.only_pid = pid;
    r = ml_summarize(trace, &own, &summary, err);
    if (r == 0 && summary.steps.list.len > 0) {
        r = add(ret, &summary, err);
        if (r == 0)
            return 0;
    }
    ml_summary_release(&summary);
    return r;
}

/* Processes without a rank come first, by their start. */
static int by_rank(const void *a, const void *b)
{
    const struct ml_summary_process *x = ml_steps_process(a), *y = ml_steps_process(b);
    uint32_t left = x ? x->rank : 0, right = y ? y->rank : 0;

    if (left != right)
        return left < right ? -1 : 1;
    return x && y && x->start_ns != y->start_ns ? (x->start_ns < y->start_ns ? -1 : 1) : 0;
}

static int add_wanted(const struct ml_trace *trace, const struct ml_process_steps_opts *opts,
                      const struct ml_summary *all, struct ml_process_steps *ret,
                      struct ml_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < all->steps.pids.len; i++)
        if (is_wanted(opts, all, all->steps.pids.items[i]))
            r = add_process(trace, opts, all->steps.pids.items[i], ret, err);
    ml_vec_sort(&ret->list, by_rank);
    if (r == 0 && opts->has_rank && ret->list.len == 0)
        r = ml_error_set(err, -ENOENT,
                         "no process of rank %u marks steps in this trace; memledger summary lists "
                         "the processes",
                         opts->rank);
    return r;
}

/* The steps of the first process, or of none, cover what was asked for. */
static bool is_answer(const struct ml_process_steps_opts *opts, const struct ml_steps *steps)
{
    if (opts->caps.only_pid)
        return steps->pid == opts->caps.only_pid || !marks_steps(steps, opts->caps.only_pid);
    return !opts->has_rank && steps->pids.len < 2;
}

int ml_process_steps(const struct ml_trace *trace, const struct ml_process_steps_opts *opts,
                     struct ml_process_steps *ret, struct ml_error *err)
{
    const struct ml_summary_opts summary_opts = {.caps = &opts->caps};
    struct ml_summary all;
    int r = ml_summarize(trace, &summary_opts, &all, err);

    *ret = (struct ml_process_steps){0};
    if (r == 0 && !is_answer(opts, &all.steps))
        r = add_wanted(trace, opts, &all, ret, err);
    if (r == 0 && ret->list.len == 0) {
        r = add(ret, &all, err);
        if (r == 0)
            return 0;
    }
    ml_summary_release(&all);
    return r;
}

void ml_process_steps_release(struct ml_process_steps *steps)
{
    for (size_t i = 0; i < steps->list.len; i++)
        ml_summary_release(&steps->list.items[i]);
    ml_vec_release(&steps->list);
}
