/* cmd_summary.c: `memledger summary`: a recording on one page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "instant_command.h"
#include "instant_totals_report.h"
#include "narrow.h"
#include "summary.h"
#include "summary_report.h"
#include "verbs.h"

struct summary_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    int64_t top;
};

static const struct ml_option options[] = {
    {.name = "at",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_instant_opts, at),
     .value_name = "WHEN",
     .help = "show one instant instead of the run: peak, end, oom, step:N, step:N:end, or a time"},
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct summary_opts, top),
     .value_name = "N",
     .help = "list N scopes and labels (10)",
     .min = 0,
     .max = 1000000},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

/* Of the whole run, or of one device or process of it. */
static int report_run(const struct ml_trace *trace, const char *file,
                      const struct summary_opts *opts, struct ml_buf *out, struct ml_error *err)
{
    struct ml_level_caps caps = {0};
    const struct ml_summary_opts summary_opts = {.top = (size_t)opts->top, .caps = &caps};
    struct ml_style style = ml_report_style(&opts->instant.report);
    struct ml_summary summary = {0};
    int r = ml_narrow(trace, opts->instant.device, (uint32_t)opts->instant.process, &caps, err);

    if (r == 0)
        r = ml_summarize(trace, &summary_opts, &summary, err);
    if (r == 0)
        r = opts->instant.report.json ? ml_summary_json(&summary, file, out)
                                      : ml_summary_text(&summary, file, &style, out);
    ml_summary_release(&summary);
    return r;
}

static int report_instant(const struct ml_trace *trace, const char *file,
                          const struct summary_opts *opts, const struct ml_snapshot_opts *snapshot,
                          struct ml_buf *out, struct ml_error *err)
{
    struct ml_style style = ml_report_style(&opts->instant.report);
    struct ml_instant_totals totals;
    int r = ml_instant_totals(trace, snapshot, &totals, err);

    if (r == 0)
        r = opts->instant.report.json ? ml_instant_totals_json(&totals, file, out)
                                      : ml_instant_totals_text(&totals, file, &style, out);
    ml_instant_totals_release(&totals);
    return r;
}

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct summary_opts *own = opts;

    return own->instant.at ? report_instant(trace, file, own, snapshot, out, err)
                           : report_run(trace, file, own, out, err);
}

static int run(int argc, char **argv)
{
    struct summary_opts opts = {.top = 10};
    int first, status = ml_verb_begin(&ml_verb_summary, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (!opts.instant.at) /* the whole run needs the whole trace */
        opts.instant.checkpoints = ML_CHECKPOINTS_NEVER;
    return ml_instant_run(&ml_verb_summary, report, &opts, argc, argv, first);
}

const struct ml_verb ml_verb_summary = {
    .name = "summary",
    .summary = "show the peak, its composition, and memory never freed",
    .usage = "[OPTION]... FILE",
    .details = "With --at: live memory at one instant, by device and category.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
