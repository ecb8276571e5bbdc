/* cmd_table.c: `memledger table`: what was live at an instant, grouped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "breakdown.h"
#include "breakdown_report.h"
#include "instant_command.h"
#include "verbs.h"

struct table_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    const char *by;
    int64_t top;
    bool csv;
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    {.name = "by",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct table_opts, by),
     .value_name = "KEY,...",
     .help = "what to group by (module,category); see below"},
    ML_OPTION_DEVICE,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct table_opts, top),
     .value_name = "N",
     .help = "groups to list (20); the others are one line",
     .min = 0,
     .max = 1000000000},
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct table_opts, csv),
     .help = "print comma-separated values: all groups, bytes"},
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct table_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_breakdown_opts breakdown_opts = {.snapshot = *snapshot};
    struct ml_breakdown breakdown = {0};
    int r = ml_breakdown_parse(own->by, &breakdown_opts, err);

    breakdown_opts.top = own->csv ? SIZE_MAX : (size_t)own->top;
    if (r == 0)
        r = ml_breakdown(trace, &breakdown_opts, &breakdown, err);
    if (r == 0 && own->csv)
        r = ml_breakdown_csv(&breakdown, out);
    else if (r == 0)
        r = own->instant.report.json ? ml_breakdown_json(&breakdown, file, out)
                                     : ml_breakdown_text(&breakdown, file, &style, out);
    ml_breakdown_release(&breakdown);
    return r;
}

static int run(int argc, char **argv)
{
    struct table_opts opts = {.top = 20};
    struct ml_breakdown_opts unused;
    struct ml_error err = {0};
    int first, status = ml_verb_begin(&ml_verb_table, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (ml_breakdown_parse(opts.by, &unused, &err) < 0)
        return ml_verb_usage_error(&ml_verb_table, "--by: %s", err.text);
    return ml_instant_run(&ml_verb_table, report, &opts, argc, argv, first);
}

const struct ml_verb ml_verb_table = {
    .name = "table",
    .summary = "list what was live at the peak, or any other time, in groups",
    .usage = "[OPTION]... FILE",
    .details = "Keys: module, category, label, scope, class, phase, thread, stack, line, device,\n"
               "space, process. Blocks that agree in all keys given are one line.",
    .group = ML_GROUP_READ,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
