/* cmd_steps.c: `memledger steps`: the peak of each step, and its composition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>

#include "instant.h"
#include "narrow.h"
#include "report_command.h"
#include "steps_report.h"
#include "summary.h"
#include "verbs.h"

struct steps_opts {
    struct ml_narrow_opts narrow; /* first, as ml_report_run requires */
    bool csv;
};

static const struct ml_option options[] = {
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct steps_opts, csv),
     .help = "print comma-separated values: bytes, nanoseconds"},
    ML_NARROW_OPTIONS,
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct steps_opts *own = (const struct steps_opts *)opts;
    struct ml_level_caps caps = {0};
    const struct ml_summary_opts summary_opts = {.caps = &caps};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_summary summary = {0};
    int r = ml_narrow(trace, own->narrow.device, (uint32_t)own->narrow.process, &caps, err);

    if (r == 0)
        r = ml_summarize(trace, &summary_opts, &summary, err);
    if (r == 0 && own->csv)
        r = ml_steps_csv(&summary.steps, out);
    else if (r == 0 && opts->report.json)
        r = ml_steps_json(&summary, file, out);
    else if (r == 0 && summary.steps.list.len == 0)
        r = ml_error_set(err, -ENOENT, ML_NO_STEPS);
    else if (r == 0)
        r = ml_steps_text(&summary, file, &style, out);
    ml_summary_release(&summary);
    return r;
}

static int run(int argc, char **argv)
{
    struct steps_opts opts = {0};

    return ml_report_run(&ml_verb_steps, report, &opts.narrow.top, argc, argv);
}

const struct ml_verb ml_verb_steps = {
    .name = "steps",
    .summary = "list training steps: peak, its composition, memory kept",
    .usage = "[OPTION]... FILE",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
