/* cmd_fragmentation.c: `memledger fragmentation`: free memory inside segments, and the
 * largest request that would succeed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "fragmentation_report.h"
#include "instant_command.h"
#include "verbs.h"

struct fragmentation_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    int64_t top;
    bool blocks;
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct fragmentation_opts, top),
     .value_name = "N",
     .help = "list the N segments with most free memory (10)",
     .min = 0,
     .max = 1000000000},
    {.name = "blocks",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct fragmentation_opts, blocks),
     .help = "with --json: print the blocks of each listed segment"},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct fragmentation_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_fragmentation found;
    int r = ml_fragmentation(trace, snapshot, (size_t)own->top, &found, err);

    if (r == 0)
        r = own->instant.report.json ? ml_fragmentation_json(&found, file, own->blocks, out)
                                     : ml_fragmentation_text(&found, file, &style, out);
    ml_fragmentation_release(&found);
    return r;
}

static int run(int argc, char **argv)
{
    struct fragmentation_opts opts = {.top = 10};
    int first, status = ml_verb_begin(&ml_verb_fragmentation, &opts, argc, argv, &first);

    if (status < 0 && opts.blocks && !opts.instant.report.json)
        status = ml_verb_usage_error(&ml_verb_fragmentation, "--blocks goes with --json");
    return status >= 0 ? status
                       : ml_instant_run(&ml_verb_fragmentation, report, &opts, argc, argv, first);
}

const struct ml_verb ml_verb_fragmentation = {
    .name = "fragmentation",
    .summary = "show free memory inside segments, and what still fits",
    .usage = "[OPTION]... FILE",
    .details = "Needs a trace with the segments of a pool or of the driver, from a GPU program.",
    .group = ML_GROUP_WHY,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
