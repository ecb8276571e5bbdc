/* cmd_tree.c: `memledger tree`: live memory at an instant, by module; or a figure of the run by
 * call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "costs_report.h"
#include "instant_command.h"
#include "module_tree.h"
#include "module_tree_report.h"
#include "verbs.h"

/* In the order of their names below. */
enum tree_by { BY_MODULE, BY_CALLEES, BY_CALLERS };
static const char *const by_names[] = {"module", "callees", "callers", NULL};

struct tree_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    int by;                         /* enum tree_by */
    int of;                         /* enum ml_cost */
    int64_t depth;
    double min_percent;
};

static const struct ml_option options[] = {
    ML_OPTION_AT,
    {.name = "by",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct tree_opts, by),
     .value_name = "WHAT",
     .choices = by_names,
     .help = "show modules (default), or calls: from main to its callees, or from the functions "
             "that allocate to their callers"},
    {.name = "of",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct tree_opts, of),
     .value_name = "WHAT",
     .choices = ml_cost_words,
     .help = "calls: bytes at the peak (default), leaked, allocated, temporary, or number of "
             "calls"},
    {.name = "depth",
     .type = ML_OPT_INT,
     .offset = offsetof(struct tree_opts, depth),
     .value_name = "N",
     .help = "show N levels; deeper ones count in their parent",
     .min = 1,
     .max = 1000000},
    ML_OPTION_DEVICE,
    ML_OPTION_PROCESS,
    {.name = "min",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct tree_opts, min_percent),
     .value_name = "PERCENT",
     .help = "fold rows below PERCENT of the total (1)",
     .min = 0,
     .max = 100},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

static int report(const struct ml_trace *trace, const char *file, const void *opts,
                  const struct ml_snapshot_opts *snapshot, struct ml_buf *out, struct ml_error *err)
{
    const struct tree_opts *own = opts;
    const struct ml_tree_opts tree_opts = {
        .snapshot = *snapshot, .depth = (size_t)own->depth, .min_percent = own->min_percent};
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_module_tree tree;
    int r = ml_module_tree(trace, &tree_opts, &tree, err);

    if (r == 0)
        r = own->instant.report.json ? ml_module_tree_json(&tree, file, out)
                                     : ml_module_tree_text(&tree, file, &style, out);
    ml_module_tree_release(&tree);
    return r;
}

static int report_calls(const struct ml_trace *trace, const char *file, const void *opts,
                        const struct ml_snapshot_opts *snapshot, struct ml_buf *out,
                        struct ml_error *err)
{
    const struct tree_opts *own = opts;
    const struct ml_call_tree_opts tree_opts = {
        .snapshot = *snapshot,
        .limit = ML_TEMPORARY_LIMIT,
        .of = (enum ml_cost)own->of,
        .callers = own->by == BY_CALLERS,
        .depth = (size_t)own->depth,
        .min_percent = own->min_percent,
    };
    struct ml_style style = ml_report_style(&own->instant.report);
    struct ml_call_tree tree;
    int r = ml_call_tree(trace, &tree_opts, &tree, err);

    if (r == 0)
        r = own->instant.report.json ? ml_call_tree_json(&tree, file, out)
                                     : ml_call_tree_text(&tree, file, &style, out);
    ml_call_tree_release(&tree);
    return r;
}

static int run(int argc, char **argv)
{
    struct tree_opts opts = {.min_percent = 1};
    int first, status = ml_verb_begin(&ml_verb_tree, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.by == BY_MODULE && opts.of != ML_COST_LIVE)
        return ml_verb_usage_error(&ml_verb_tree,
                                   "--of goes with --by callees or callers; modules have bytes at "
                                   "an instant");
    if (opts.by != BY_MODULE && opts.instant.checkpoints != ML_CHECKPOINTS_NEVER)
        opts.instant.checkpoints = ML_CHECKPOINTS_FOUND; /* most of it is about all instants */
    return ml_instant_run(&ml_verb_tree, opts.by == BY_MODULE ? report : report_calls, &opts, argc,
                          argv, first);
}

const struct ml_verb ml_verb_tree = {
    .name = "tree",
    .summary = "show the memory of each module, with and without its submodules",
    .usage = "[OPTION]... FILE",
    .details = "Forward, backward and recompute of a module are one. Parameters, gradients and\n"
               "optimizer state belong to the module that their label names.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
