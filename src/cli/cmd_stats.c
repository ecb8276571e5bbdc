/* cmd_stats.c: `memledger stats`: how a program allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memledger/memledger.h"
#include "narrow.h"
#include "report_command.h"
#include "stats.h"
#include "stats_report.h"
#include "verbs.h"

struct stats_opts {
    struct ml_narrow_opts narrow;
    int sort_by; /* MEMLEDGER_BY_TOTAL, ... */
    bool ascending;
};

static const char *const sort_choices[] = {
    [MEMLEDGER_BY_TOTAL] = "total", [MEMLEDGER_BY_AVG] = "avg",     [MEMLEDGER_BY_MIN] = "min",
    [MEMLEDGER_BY_MAX] = "max",     [MEMLEDGER_BY_COUNT] = "count", NULL,
};

static const struct ml_option options[] = {
    {.name = "sort",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct stats_opts, sort_by),
     .value_name = "KEY",
     .choices = sort_choices,
     .help = "sort times and counters: total, avg, min, max, count"},
    {.name = "ascending",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct stats_opts, ascending),
     .help = "list the smallest time or counter first"},
    ML_NARROW_OPTIONS,
    ML_TOP_OPTIONS("scopes, threads and blocks"),
};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct stats_opts *own = (const struct stats_opts *)opts;
    struct ml_level_caps caps = {0};
    const struct ml_stats_opts stats_opts = {
        .top = (size_t)opts->top, .order = {own->sort_by, own->ascending}, .caps = &caps};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_stats stats = {0};
    int r = ml_narrow(trace, own->narrow.device, (uint32_t)own->narrow.process, &caps, err);

    if (r == 0)
        r = ml_measure(trace, &stats_opts, &stats, err);
    if (r == 0)
        r = opts->report.json ? ml_stats_json(&stats, file, out)
                              : ml_stats_text(&stats, file, &style, out);
    ml_stats_release(&stats);
    return r;
}

static int run(int argc, char **argv)
{
    struct stats_opts opts = {.narrow.top.top = 10};

    return ml_report_run(&ml_verb_stats, report, &opts.narrow.top, argc, argv);
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
