/* run_checkpoints.c: see run_checkpoints.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_checkpoints.h"

#include <fcntl.h>
#include <unistd.h>

#include "checkpoint_file.h"
#include "memory_limit.h"

#define EVENT_NS 300 /* that making them takes, an event */
#define RUN_SHARE 10 /* of the run's time, one part in so many may be spent on them */

static bool is_worth_it(const struct ml_trace_info *info)
{
    return info->events >= ML_CHECKPOINT_EVENTS &&
           info->events * EVENT_NS <= info->end_ns / RUN_SHARE;
}

static bool is_wanted(const struct ml_trace *trace, enum ml_checkpoint_use use)
{
    const struct ml_trace_info *info = ml_trace_info(trace);

    return info->events > 0 && (use == ML_CHECKPOINTS_ALWAYS || is_worth_it(info));
}

/* A trace that has no index stays as it is: it says that the recording was cut short. */
static void add(const char *path, enum ml_checkpoint_use use)
{
    struct ml_trace *trace = NULL;

    if (ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, &(struct ml_error){0}) < 0)
        return;
    if (is_wanted(trace, use) && ml_trace_info(trace)->has_index)
        ml_checkpoint_file_embed(path);
    else if (is_wanted(trace, use))
        ml_checkpoint_cache_attach(trace, use);
    ml_trace_free(trace);
}

struct making {
    const char *trace;
    enum ml_checkpoint_use use;
    bool quiet;
};

static void make(void *arg)
{
    const struct making *m = arg;
    int null = m->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

    if (null >= 0)
        dup2(null, STDERR_FILENO);
    ml_memory_limit(m->trace, 0);
    add(m->trace, m->use);
}

void ml_run_add_checkpoints(struct ml_launch *l, const char *trace, enum ml_checkpoint_use use,
                            bool quiet)
{
    struct making making = {trace, use, quiet};

    if (use != ML_CHECKPOINTS_NEVER && l->stops == 0)
        ml_launch_aside(l, make, &making);
}
