/* run_verdict.c: see run_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_verdict.h"

#include <stdio.h>

#include "memory_limit.h"
#include "oom_report.h"
#include "report_command.h"

#define EVENTS_MAX 2000000u /* a verdict reads them up to 31 times */

static void print(const struct ml_trace *trace)
{
    struct ml_oom_opts opts = {.top = 1};
    struct ml_style style = ml_report_style(&(struct ml_report_opts){0});
    struct ml_error err = {0};
    struct ml_oom_report found;
    struct ml_buf text = {0};

    if (ml_trace_info(trace)->events > EVENTS_MAX)
        return;
    if (ml_oom_report(trace, &opts, &found, &err) == 0 &&
        ml_oom_paragraph(&found, &style, &text) == 0 && text.len)
        fwrite(text.data, 1, text.len, stderr);
    ml_oom_report_release(&found);
    ml_buf_release(&text);
}

static void work(void *arg)
{
    const char *path = arg;
    struct ml_trace *trace;

    ml_memory_limit(path, 0);
    if (ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, &(struct ml_error){0}) < 0)
        return;
    print(trace);
    ml_trace_free(trace);
}

void ml_run_verdict(struct ml_launch *l, const char *trace)
{
    ml_launch_aside(l, work, (void *)trace);
}
