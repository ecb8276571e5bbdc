/* cmd_layers.c: `memledger layers`: the memory of each module at an instant, in the order
 * of the model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "instant_command.h"
#include "module_tree.h"
#include "module_tree_report.h"
#include "say.h"
#include "verbs.h"

struct layers_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    bool csv, safe_csv;
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct layers_opts, csv),
     .help = "print comma-separated values: bytes"},
    ML_OPTION_SAFE_CSV(struct layers_opts, safe_csv),
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct layers_opts *own = opts;
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_layers layers;
    int r = ml_layers(trace, snapshot, &layers, err);

    if (r == 0 && own->csv)
        r = ml_say_csv(ml_layers_csv(&layers, own->safe_csv, out), out);
    else if (r == 0)
        r = own->instant.report.json ? ml_layers_json(&layers, file, out)
                                     : ml_layers_text(&layers, file, &style, out);
    ml_layers_release(&layers);
    return r;
}

static int run(int argc, char **argv)
{
    struct layers_opts opts = {0};
    int first, status = ml_verb_begin(&ml_verb_layers, &opts, argc, argv, &first);

    return status >= 0 ? status : ml_instant_run(&ml_verb_layers, report, &opts, argc, argv, first);
}

const struct ml_verb ml_verb_layers = {
    .name = "layers",
    .summary = "list the memory of each module, in the order of the model",
    .usage = "[OPTION]... FILE",
    .details = "One line for each module that holds memory itself, in the order of their\n"
               "first calls.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
