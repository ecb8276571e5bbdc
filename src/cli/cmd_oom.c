/* cmd_oom.c: `memledger oom`: why an allocation was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "instant_command.h"
#include "oom_report.h"
#include "verbs.h"

struct oom_opts {
    struct ml_narrow_opts narrow; /* first, as its option entries require */
    const char *at;
};

static const struct ml_option options[] = {
    {.name = "at",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct oom_opts, at),
     .value_name = "WHEN",
     .help = "explain refusal oom:N (default: last 3 not recovered)"},
    ML_NARROW_OPTIONS,
    ML_TOP_OPTIONS("holders"),
};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct oom_opts *own = (const struct oom_opts *)opts;
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_oom_opts oom_opts = {.device = own->narrow.device,
                                   .pid = (uint32_t)own->narrow.process,
                                   .top = (size_t)opts->top};
    struct ml_oom_report found;
    struct ml_at at = {0};
    int r;

    if (own->at && ml_at_parse(own->at, &at))
        oom_opts.number = at.number;
    r = ml_oom_report(trace, &oom_opts, &found, err);
    if (r == 0)
        r = opts->report.json ? ml_oom_json(&found, file, out)
                              : ml_oom_text(&found, file, &style, out);
    ml_oom_report_release(&found);
    return r;
}

static int run(int argc, char **argv)
{
    struct oom_opts opts = {.narrow.top.top = 10};
    struct ml_at at;
    int first, status = ml_verb_begin(&ml_verb_oom, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.at && (!ml_at_parse(opts.at, &at) || at.kind != ML_AT_OOM))
        return ml_verb_usage_error(
            &ml_verb_oom, "--at: '%s' is not a failure; write oom:2 for the second", opts.at);
    return ml_report_run(&ml_verb_oom, report, &opts.narrow.top, argc, argv);
}

const struct ml_verb ml_verb_oom = {
    .name = "oom",
    .summary = "explain why an allocation failed and what would make room",
    .usage = "[OPTION]... FILE",
    .details = "memledger help oom explains how it tells a true shortage from fragmentation.",
    .group = ML_GROUP_WHY,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
