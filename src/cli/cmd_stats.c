/* cmd_stats.c: `memledger stats`: how a program allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "report_command.h"
#include "stats.h"
#include "stats_report.h"
#include "verbs.h"

struct stats_opts {
    struct ml_report_opts report; /* first, as its option entries want it */
    int64_t top;
};

static const struct ml_option options[] = {
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct stats_opts, top),
     .value_name = "N",
     .help = "scopes, threads and blocks to list (10)",
     .min = 0,
     .max = 1000000},
    ML_REPORT_OPTIONS,
};

static int measure(const struct ml_trace *trace, const char *file, const struct stats_opts *opts)
{
    const struct ml_stats_opts stats_opts = {.top = (size_t)opts->top};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_stats stats;
    struct ml_error err = {0};
    struct ml_buf out;
    int r, status = ML_EXIT_FAILURE;

    ml_buf_init(&out);
    r = ml_measure(trace, &stats_opts, &stats, &err);
    if (r == 0)
        r = opts->report.json ? ml_stats_json(&stats, file, &out)
                              : ml_stats_text(&stats, file, &style, &out);
    if (r == 0)
        status = ml_report_write(&out);
    else
        ml_report_fail(&err);
    ml_stats_release(&stats);
    ml_buf_release(&out);
    return status;
}

static int run(int argc, char **argv)
{
    struct stats_opts opts = {.top = 10};
    struct ml_trace *trace;
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_stats, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    file = ml_report_operand(&ml_verb_stats, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = ml_report_open(file, &opts.report);
    if (!trace)
        return ML_EXIT_FAILURE;
    status = measure(trace, file, &opts);
    ml_trace_free(trace);
    return status;
}

const struct ml_verb ml_verb_stats = {
    .name = "stats",
    .summary = "show how a program allocates: sizes, lifetimes, threads, scopes",
    .usage = "[OPTION]... FILE",
    .group = ML_GROUP_READ,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
