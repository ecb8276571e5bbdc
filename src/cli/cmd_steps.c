/* cmd_steps.c: `memledger steps`: the peak of each step, and its composition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>

#include "instant.h"
#include "narrow.h"
#include "process_steps.h"
#include "report_command.h"
#include "steps_report.h"
#include "verbs.h"

struct steps_opts {
    struct ml_narrow_opts narrow; /* first, as ml_report_run requires */
    int64_t rank;                 /* -1: all */
    bool csv;
};

static const struct ml_option options[] = {
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct steps_opts, csv),
     .help = "print comma-separated values: bytes, nanoseconds"},
    ML_NARROW_OPTIONS,
    {.name = "rank",
     .type = ML_OPT_INT,
     .offset = offsetof(struct steps_opts, rank),
     .value_name = "N",
     .help = "show only this rank of a job",
     .min = 0,
     .max = UINT32_MAX - 1},
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct steps_opts *own = (const struct steps_opts *)opts;
    struct ml_process_steps_opts which = {.has_rank = own->rank >= 0, .rank = (uint32_t)own->rank};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_process_steps steps = {0};
    int r = ml_narrow(trace, own->narrow.device, (uint32_t)own->narrow.process, &which.caps, err);

    if (r == 0)
        r = ml_process_steps(trace, &which, &steps, err);
    if (r == 0 && own->csv)
        r = ml_steps_csv(&steps, out);
    else if (r == 0 && opts->report.json)
        r = ml_steps_json(&steps, file, out);
    else if (r == 0 && steps.list.items[0].steps.list.len == 0)
        r = ml_no_steps(trace, err);
    else if (r == 0)
        r = ml_steps_text(&steps, file, &style, out);
    ml_process_steps_release(&steps);
    return r;
}

static int run(int argc, char **argv)
{
    struct steps_opts opts = {.rank = -1};

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
