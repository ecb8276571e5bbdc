/* cmd_table.c: `memledger table`: live memory at an instant, grouped; or allocations
 * that were freed quickly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <string.h>

#include "breakdown.h"
#include "breakdown_report.h"
#include "costs.h"
#include "costs_report.h"
#include "instant_command.h"
#include "say.h"
#include "temporary.h"
#include "temporary_report.h"
#include "verbs.h"

#define OF_UNSAID (-1)

struct table_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    const char *by;
    int64_t top;
    bool temporary;
    const char *within;
    int of; /* enum ml_cost; OF_UNSAID */
    bool csv, safe_csv;
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    {.name = "by",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct table_opts, by),
     .value_name = "KEY,...",
     .help = "group by these keys (module,category); see below"},
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct table_opts, top),
     .value_name = "N",
     .help = "list N groups (20) and add up the others",
     .min = 0,
     .max = 1000000000},
    {.name = "of",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct table_opts, of),
     .value_name = "WHAT",
     .choices = ml_cost_words,
     .help = "show the whole run, ordered by bytes at the peak, leaked, allocated, temporary, or "
             "by calls"},
    {.name = "temporary",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct table_opts, temporary),
     .help = "show short-lived blocks; with --at step:N of a step"},
    {.name = "within",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct table_opts, within),
     .value_name = "N|TIME",
     .help =
         "short-lived: freed within N more allocations of the thread (1), or within a time (20us)"},
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct table_opts, csv),
     .help = "print comma-separated values: all groups, bytes"},
    ML_OPTION_SAFE_CSV(struct table_opts, safe_csv),
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

/* ---- Temporary allocations ------------------------------------------------- */

static int report_temporary(const struct ml_trace *trace, const char *file, const void *opts,
                            const struct ml_snapshot_opts *snapshot, struct ml_buf *out,
                            struct ml_error *err)
{
    const struct table_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_temporary_opts temporary_opts = {
        .device = snapshot->device,
        .one_step = own->instant.at != NULL,
        .step = snapshot->at.number,
        .top = own->csv ? SIZE_MAX : (size_t)own->top,
    };
    struct ml_breakdown_opts keys = {0};
    struct ml_temporary temporary = {0};
    int r = ml_breakdown_parse(own->by, &keys, err);

    ml_breakdown_split_labels(&keys);
    for (size_t i = 0; i < keys.by_count; i++)
        temporary_opts.by[i] = keys.by[i];
    temporary_opts.by_count = keys.by_count;
    ml_temporary_parse(own->within, &temporary_opts.limit);
    if (r == 0)
        r = ml_temporary(trace, &temporary_opts, &temporary, err);
    if (r == 0 && own->csv)
        r = ml_say_csv(ml_temporary_csv(&temporary, own->safe_csv, out), out);
    else if (r == 0)
        r = own->instant.report.json ? ml_temporary_json(&temporary, file, out)
                                     : ml_temporary_text(&temporary, file, &style, out);
    ml_temporary_release(&temporary);
    return r;
}

/* ---- The whole run --------------------------------------------------------- */

static int report_costs(const struct ml_trace *trace, const char *file, const void *opts,
                        const struct ml_snapshot_opts *snapshot, struct ml_buf *out,
                        struct ml_error *err)
{
    const struct table_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_costs_opts costs_opts = {
        .snapshot = *snapshot,
        .of = (enum ml_cost)own->of,
        .top = own->csv ? SIZE_MAX : (size_t)own->top,
    };
    struct ml_breakdown_opts keys = {0};
    struct ml_cost_report costs = {0};
    int r = ml_breakdown_parse(own->by, &keys, err);

    ml_breakdown_split_labels(&keys);
    memcpy(costs_opts.by, keys.by, sizeof(costs_opts.by));
    costs_opts.by_count = keys.by_count;
    ml_temporary_parse(own->within, &costs_opts.limit);
    if (r == 0)
        r = ml_costs(trace, &costs_opts, &costs, err);
    if (r == 0 && own->csv)
        r = ml_say_csv(ml_costs_csv(&costs, own->safe_csv, out), out);
    else if (r == 0)
        r = own->instant.report.json ? ml_costs_json(&costs, file, out)
                                     : ml_costs_text(&costs, file, &style, out);
    ml_cost_report_release(&costs);
    return r;
}

/* ---- Command line ----------------------------------------------------------- */

/* @return negative to continue, else the exit code */
static int check_temporary(const struct table_opts *opts)
{
    struct ml_temporary_limit limit;
    struct ml_at at;

    if (!opts->temporary && opts->within && opts->of == OF_UNSAID)
        return ml_verb_usage_error(&ml_verb_table, "--within goes with --temporary or --of");
    if (opts->temporary && opts->of != OF_UNSAID)
        return ml_verb_usage_error(&ml_verb_table,
                                   "--temporary and --of are two tables; --of temporary shows "
                                   "all figures");
    if (!ml_temporary_parse(opts->within, &limit))
        return ml_verb_usage_error(&ml_verb_table,
                                   "--within: '%s' is neither a number of allocations nor a time "
                                   "such as 20us",
                                   opts->within);
    if (opts->temporary && opts->instant.process)
        return ml_verb_usage_error(&ml_verb_table, "--process goes with an instant; --temporary "
                                                   "adds up all processes");
    if (opts->temporary && opts->instant.at &&
        (!ml_at_parse(opts->instant.at, &at) || at.kind != ML_AT_STEP))
        return ml_verb_usage_error(&ml_verb_table,
                                   "--temporary covers the run, or one step with --at step:N; "
                                   "'%s' is an instant",
                                   opts->instant.at);
    return -1;
}

/* ---- Live memory ----------------------------------------------------- */

static int report_live(const struct ml_trace *trace, const char *file, const void *opts,
                       const struct ml_snapshot_opts *snapshot, struct ml_buf *out,
                       struct ml_error *err)
{
    const struct table_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_breakdown_opts breakdown_opts = {.snapshot = *snapshot};
    struct ml_breakdown breakdown = {0};
    int r = ml_breakdown_parse(own->by, &breakdown_opts, err);

    ml_breakdown_split_labels(&breakdown_opts);
    breakdown_opts.top = own->csv ? SIZE_MAX : (size_t)own->top;
    if (r == 0)
        r = ml_breakdown(trace, &breakdown_opts, &breakdown, err);
    if (r == 0 && own->csv)
        r = ml_say_csv(ml_breakdown_csv(&breakdown, own->safe_csv, out), out);
    else if (r == 0)
        r = own->instant.report.json ? ml_breakdown_json(&breakdown, file, out)
                                     : ml_breakdown_text(&breakdown, file, &style, out);
    ml_breakdown_release(&breakdown);
    return r;
}

static int run(int argc, char **argv)
{
    struct table_opts opts = {.top = 20, .of = OF_UNSAID};
    struct ml_breakdown_opts unused;
    struct ml_error err = {0};
    int first, status = ml_verb_begin(&ml_verb_table, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (ml_breakdown_parse(opts.by, &unused, &err) < 0)
        return ml_verb_usage_error(&ml_verb_table, "--by: %s", err.text);
    status = check_temporary(&opts);
    if (status >= 0)
        return status;
    if (opts.temporary || opts.of != OF_UNSAID)
        opts.instant.checkpoints = ML_CHECKPOINTS_NEVER; /* it is about all instants */
    return ml_instant_run(&ml_verb_table,
                          opts.temporary         ? report_temporary
                          : opts.of != OF_UNSAID ? report_costs
                                                 : report_live,
                          &opts, argc, argv, first);
}

const struct ml_verb ml_verb_table = {
    .name = "table",
    .summary = "show live memory at the peak or any instant, grouped by any key",
    .usage = "[OPTION]... FILE",
    .details = "Keys: module, category, label, scope, class, phase, thread, stack, function,\n"
               "file, library, line, device, space, process. Blocks with equal keys\n"
               "share a line.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
