/* cmd_groups.c: `memledger groups`: memory by the categories of keyword dictionaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "groups_output.h"
#include "verbs.h"

static const char *const match_choices[] = {"dictionary", "first", "all", NULL};
static const char *const style_choices[] = {"table", "tbd", "mxnet", NULL};

static const struct ml_option options[] = {
    {.name = "dictionary",
     .word = ml_dictionary_word,
     .or_file = true,
     .letter = 'd',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_groups_opts, dictionaries),
     .value_name = "NAME,...",
     .help = "use these dictionaries: files, or names listed below (" ML_GROUPS_TORCH_DICTIONARIES
             " or " ML_GROUPS_DICTIONARIES ")"},
    {.name = "match",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_groups_opts, match),
     .value_name = "WHICH",
     .choices = match_choices,
     .help = "use the first keyword that matches, or all of them"},
    {.name = "expected",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_groups_opts, expected),
     .value_name = "SIZE",
     .help = "compare with this total, or auto for the sampled one; the rest is untrackable"},
    ML_OPTION_AT,
    {.name = "gross",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_groups_opts, gross),
     .help = "count all allocations of the run, freed or not"},
    ML_OPTION_DEVICE,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct ml_groups_opts, top),
     .value_name = "N",
     .help = "list N entries of each category (5; mxnet style: 20)",
     .min = 0,
     .max = 1000000000},
    {.name = "style",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct ml_groups_opts, style),
     .value_name = "STYLE",
     .choices = style_choices,
     .help = "print like MXNet's pprint_top_entries.py (mxnet), or like TBD's memory_analysis.py "
             "over the whole run (tbd)"},
    {.name = "show",
     .word = ml_dictionary_word,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_groups_opts, show),
     .value_name = "NAME",
     .help = "print a built-in dictionary, as a start for your own",
     .no_env = true},
    ML_OPTION_CHECKPOINTS,
    ML_REPORT_OPTIONS,
};

static int list_dictionaries(struct ml_buf *out)
{
    int r = ml_buf_puts(out, "Dictionaries: ");

    for (size_t i = 0; r == 0 && ml_dictionary_names[i]; i++)
        r = ml_buf_printf(out, "%s%s", i ? ", " : "", ml_dictionary_names[i]);
    return r < 0 ? r : ml_buf_puts(out, ".\n");
}

static int show(const char *name)
{
    const char *text = ml_dictionary_text(name);
    struct ml_buf out = {0};
    int status;

    if (!text)
        return ml_verb_usage_error(&ml_verb_groups,
                                   "--show: there is no dictionary '%s'; --help lists them", name);
    status =
        ml_buf_puts(&out, text) < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);
    ml_buf_release(&out);
    return status;
}

static int run_groups(struct ml_groups_output *g, int argc, char **argv, int first)
{
    const char *names = g->opts->dictionaries;
    struct ml_error err = {0};

    if (names && ml_groups_load_dictionaries(g, names, &err) < 0)
        return ml_report_fail(&err);
    if (g->opts->style == ML_GROUPS_STYLE_TBD)
        return ml_groups_put_tbd(g, &argv[first], (size_t)(argc - first));
    return ml_groups_put_traces(g, &argv[first], (size_t)(argc - first));
}

static int run(int argc, char **argv)
{
    struct ml_groups_opts opts = {.top = -1};
    struct ml_groups_output g = {.opts = &opts};
    int first, status = ml_verb_begin(&ml_verb_groups, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.show)
        return show(opts.show);
    if (argc == first)
        return ml_verb_usage_error(&ml_verb_groups, "no trace given; name one or more .mled files");
    if (opts.gross && opts.instant.at)
        return ml_verb_usage_error(&ml_verb_groups, "--gross covers the whole run; leave out --at");
    if (opts.style == ML_GROUPS_STYLE_TBD && (opts.instant.at || opts.expected))
        return ml_verb_usage_error(
            &ml_verb_groups, "--style tbd covers the whole run, as TBD's script does; leave out "
                             "--at and --expected");
    if (opts.style == ML_GROUPS_STYLE_TBD && opts.instant.report.json)
        return ml_verb_usage_error(&ml_verb_groups,
                                   "--style tbd is text; memledger export --format tbd-analysis "
                                   "writes its JSON");
    if (opts.style == ML_GROUPS_STYLE_MXNET && opts.instant.report.json)
        return ml_verb_usage_error(&ml_verb_groups, "--style mxnet is text; leave it out for JSON");
    status = ml_instant_parse(&ml_verb_groups, opts.instant.at, &g.at);
    if (status < 0)
        status = ml_expected_total_parse(&ml_verb_groups, opts.expected, &g.expected);
    if (status >= 0)
        return status;
    g.style = ml_report_style(&opts.instant.report);
    status = run_groups(&g, argc, argv, first);
    ml_dictionaries_release(&g.dictionaries);
    ml_buf_release(&g.out);
    return status;
}

const struct ml_verb ml_verb_groups = {
    .name = "groups",
    .summary = "add up memory by the categories of keyword dictionaries",
    .usage = "[OPTION]... FILE...",
    .more_details = list_dictionaries,
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
