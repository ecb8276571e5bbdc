/* cmd_stats.c: `memledger stats`: how a program allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report_command.h"
#include "stats.h"
#include "stats_report.h"
#include "verbs.h"

static const struct ml_option options[] = {ML_TOP_OPTIONS("scopes, threads and blocks")};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct ml_stats_opts stats_opts = {.top = (size_t)opts->top};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_stats stats;
    int r = ml_measure(trace, &stats_opts, &stats, err);

    if (r == 0)
        r = opts->report.json ? ml_stats_json(&stats, file, out)
                              : ml_stats_text(&stats, file, &style, out);
    ml_stats_release(&stats);
    return r;
}

static int run(int argc, char **argv)
{
    struct ml_top_opts opts = {.top = 10};

    return ml_report_run(&ml_verb_stats, report, &opts, argc, argv);
}

const struct ml_verb ml_verb_stats = {
    .name = "stats",
    .summary = "show how a program allocates: sizes, lifetimes, threads, scopes",
    .usage = "[OPTION]... FILE",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
