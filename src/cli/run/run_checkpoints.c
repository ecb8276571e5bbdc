/* run_checkpoints.c: see run_checkpoints.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_checkpoints.h"

#include <fcntl.h>
#include <stdnoreturn.h>
#include <sys/resource.h>
#include <unistd.h>

#include "checkpoint_file.h"
#include "memory_limit.h"

#define LOOK_MS 500
#define NICENESS 10
#define EVENT_NS 300 /* that making them takes, an event */
#define RUN_SHARE 10 /* of the run's time, one part in so many may be spent on them */

static bool is_worth_it(const struct ml_trace_info *info)
{
    return info->events >= ML_CHECKPOINT_EVENTS &&
           info->events * EVENT_NS <= info->end_ns / RUN_SHARE;
}

static bool is_wanted(const char *path, enum ml_checkpoint_use use)
{
    struct ml_trace *trace = NULL;
    bool wanted;

    if (ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, &(struct ml_error){0}) < 0)
        return false;
    wanted = ml_trace_info(trace)->events > 0 &&
             (use == ML_CHECKPOINTS_ALWAYS || is_worth_it(ml_trace_info(trace)));
    ml_trace_free(trace);
    return wanted;
}

static noreturn void be_maker(const struct ml_launch *l, const char *trace,
                              enum ml_checkpoint_use use, bool quiet)
{
    int null = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

    if (null >= 0)
        dup2(null, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    setpriority(PRIO_PROCESS, 0, NICENESS);
    ml_memory_limit(trace, 0);
    if (is_wanted(trace, use))
        ml_checkpoint_file_embed(trace);
    _exit(0);
}

void ml_run_add_checkpoints(struct ml_launch *l, const char *trace, enum ml_checkpoint_use use,
                            bool quiet)
{
    unsigned stops = l->stops;
    int status;
    pid_t pid;

    if (use == ML_CHECKPOINTS_NEVER || stops > 0)
        return;
    pid = fork();
    if (pid == 0)
        be_maker(l, trace, use, quiet);
    while (pid > 0 && ml_launch_next(l, LOOK_MS, &status) != pid)
        if (l->stops > stops)
            kill(pid, SIGTERM);
}
