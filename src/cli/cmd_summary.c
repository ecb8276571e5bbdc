/* cmd_summary.c: `memledger summary`: a recording on one page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report_command.h"
#include "summary.h"
#include "summary_report.h"
#include "verbs.h"

static const struct ml_option options[] = {ML_TOP_OPTIONS("scopes and labels")};

static int report(const struct ml_trace *trace, const char *file, const struct ml_top_opts *opts,
                  struct ml_buf *out, struct ml_error *err)
{
    const struct ml_summary_opts summary_opts = {.top = (size_t)opts->top};
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_summary summary;
    int r = ml_summarize(trace, &summary_opts, &summary, err);

    if (r == 0)
        r = opts->report.json ? ml_summary_json(&summary, file, out)
                              : ml_summary_text(&summary, file, &style, out);
    ml_summary_release(&summary);
    return r;
}

static int run(int argc, char **argv)
{
    struct ml_top_opts opts = {.top = 10};

    return ml_report_run(&ml_verb_summary, report, &opts, argc, argv);
}

const struct ml_verb ml_verb_summary = {
    .name = "summary",
    .summary = "show the peak, its composition, and memory never freed",
    .usage = "[OPTION]... FILE",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .elsewhere = {"at", "a summary covers the whole run: table, tree and layers have '--at'"},
    .run = run,
};
