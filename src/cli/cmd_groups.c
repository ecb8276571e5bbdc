/* cmd_groups.c: `memledger groups`: memory by the categories of keyword dictionaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "dictionary_option.h"
#include "expected_option.h"
#include "groups_report.h"
#include "legacy_rows.h"
#include "instant_command.h"
#include "mxnet_report.h"
#include "progress_line.h"
#include "say.h"
#include "tbd_operands.h"
#include "tbd_report.h"
#include "verbs.h"

#define DEFAULT_DICTIONARIES "mxnet,layers"
#define TBD_DICTIONARY "tbd"
#define TORCH_DICTIONARIES "torch,layers"
#define DEFAULT_TOP 5

enum style { STYLE_TABLE, STYLE_TBD, STYLE_MXNET };

static const char *const match_choices[] = {"dictionary", "first", "all", NULL};
static const char *const style_choices[] = {"table", "tbd", "mxnet", NULL};

struct groups_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    const char *dictionaries, *expected, *show;
    int match, style;
    int64_t top;
    bool gross;
};

static const struct ml_option options[] = {
    {.name = "dictionary",
     .word = ml_dictionary_word,
     .or_file = true,
     .letter = 'd',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct groups_opts, dictionaries),
     .value_name = "NAME,...",
     .help = "use these dictionaries: files, or names listed below (" TORCH_DICTIONARIES
             " or " DEFAULT_DICTIONARIES ")"},
    {.name = "match",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct groups_opts, match),
     .value_name = "WHICH",
     .choices = match_choices,
     .help = "use the first keyword that matches, or all of them"},
    {.name = "expected",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct groups_opts, expected),
     .value_name = "SIZE",
     .help = "compare with this total, or auto for the sampled one; the rest is untrackable"},
    ML_OPTION_AT,
    {.name = "gross",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct groups_opts, gross),
     .help = "count all allocations of the run, freed or not"},
    ML_OPTION_DEVICE,
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct groups_opts, top),
     .value_name = "N",
     .help = "list N entries of each category (5; mxnet style: 20)",
     .min = 0,
     .max = 1000000000},
    {.name = "style",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct groups_opts, style),
     .value_name = "STYLE",
     .choices = style_choices,
     .help = "print like MXNet's pprint_top_entries.py (mxnet), or like TBD's memory_analysis.py "
             "over the whole run (tbd)"},
    {.name = "show",
     .word = ml_dictionary_word,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct groups_opts, show),
     .value_name = "NAME",
     .help = "print a built-in dictionary, as a start for your own",
     .no_env = true},
    ML_REPORT_OPTIONS,
};

/* The state that all traces share. */
struct groups {
    const struct groups_opts *opts;
    struct ml_at at;
    struct ml_expected_total expected;
    ml_dictionary_list dictionaries;
    struct ml_style style;
    struct ml_buf out;
    struct ml_json json;
};

/* ---- One trace ---------------------------------------------------------- */

/* As MXNet's script warns, for each keyword after the first. */
static void tell_clash(const struct ml_group_clash *clash, const char *tag)
{
    for (size_t i = 1; i < clash->match_count; i++)
        ml_say("Tag %s is considered match for multiple entries (%s, %s) in the "
               "keyword dictionary.",
               tag, clash->matches[0].keyword, clash->matches[i].keyword);
}

/* Where Python's warnings go. */
static int tell_clashes(const struct ml_grouping *grouping)
{
    struct ml_buf tag = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < grouping->clashes.len; i++) {
        const struct ml_group_clash *c = &grouping->clashes.items[i];

        tag.len = 0;
        r = ml_report_safe(&tag, c->tag);
        if (r == 0)
            tell_clash(c, (const char *)tag.data);
    }
    ml_buf_release(&tag);
    return r;
}

static int put_dictionary(struct groups *g, const struct ml_tag_list *list,
                          const struct ml_dictionary *dictionary,
                          const struct ml_grouping_opts *opts)
{
    struct ml_grouping grouping;
    int r = ml_grouping(list, dictionary, opts, &grouping);

    if (r == 0 && g->opts->style == STYLE_MXNET) {
        r = tell_clashes(&grouping);
        if (r == 0)
            r = ml_mxnet_text(&grouping, &g->out);
    } else if (r == 0 && g->opts->instant.report.json) {
        ml_groups_json(&grouping, &g->json);
    } else if (r == 0) {
        r = ml_groups_text(&grouping, &g->style, &g->out);
    }
    ml_grouping_release(&grouping);
    return r;
}

static size_t top_of(const struct groups_opts *opts)
{
    if (opts->top >= 0)
        return (size_t)opts->top;
    return opts->style == STYLE_MXNET ? ML_MXNET_TOP : DEFAULT_TOP;
}

static int put_dictionaries(struct groups *g, const struct ml_trace *trace, const char *file,
                            const struct ml_tag_list *list, struct ml_error *err)
{
    bool mxnet = g->opts->style == STYLE_MXNET, json = g->opts->instant.report.json;
    struct ml_grouping_opts opts = {.top = top_of(g->opts),
                                    .tag_chars = mxnet ? ML_MXNET_TAG_CHARS : 0};
    int r = ml_expected_total_find(&g->expected, trace, list, g->opts->instant.device, &opts, err);

    if (r == 0 && json) {
        ml_json_begin_object(&g->json);
        ml_groups_head_json(list, file, &g->json);
        ml_json_key(&g->json, "dictionaries");
        ml_json_begin_array(&g->json);
    } else if (r == 0 && !mxnet) {
        r = ml_groups_head_text(list, file, &g->style, &g->out);
    }
    for (size_t i = 0; r == 0 && i < g->dictionaries.len; i++)
        r = put_dictionary(g, list, &g->dictionaries.items[i], &opts);
    if (r == 0 && json) {
        ml_json_end_array(&g->json);
        ml_json_end_object(&g->json);
    }
    return r;
}

/* Replaces those of the trace before. */
static int load_dictionaries(struct groups *g, const char *names, struct ml_error *err)
{
    int r;

    ml_dictionaries_release(&g->dictionaries);
    r = ml_dictionaries_load(names, &g->dictionaries, err);
    for (size_t i = 0; r == 0 && g->opts->match && i < g->dictionaries.len; i++)
        g->dictionaries.items[i].match = (enum ml_match)(g->opts->match - 1);
    return r;
}

/* Data structures have the names that the framework gives them. */
static const char *default_for(const struct groups *g, const struct ml_trace *trace)
{
    return g->opts->style == STYLE_TABLE && ml_trace_has_torch_alone(trace) ? TORCH_DICTIONARIES
                                                                            : DEFAULT_DICTIONARIES;
}

static int put_table(struct groups *g, const struct ml_trace *trace, const char *file,
                     struct ml_progress *progress, struct ml_error *err)
{
    struct ml_tag_list_opts opts = {
        .device = g->opts->instant.device,
        .gross = g->opts->gross,
        .at = g->at,
        .progress = progress,
    };
    struct ml_tag_list list;
    int r = g->opts->dictionaries ? 0 : load_dictionaries(g, default_for(g, trace), err);

    if (r < 0)
        return r;
    r = ml_tag_list(trace, &opts, &list, err);
    if (r == 0)
        r = put_dictionaries(g, trace, file, &list, err);
    ml_tag_list_release(&list);
    return r;
}

static int put_tbd_dictionary(struct groups *g, const struct ml_tag_list *rows,
                              const struct ml_dictionary *dictionary, const char *file)
{
    struct ml_tbd_analysis analysis;
    int r = ml_tbd_analysis(rows, dictionary, &analysis);

    if (r == 0)
        r = ml_tbd_text(&analysis, file, &g->out);
    ml_tbd_analysis_release(&analysis);
    return r;
}

static int put_tbd(struct groups *g, const struct ml_trace *trace, const char *file,
                   struct ml_progress *progress, struct ml_error *err)
{
    struct ml_export_opts opts = {.device = g->opts->instant.device, .progress = progress};
    struct ml_tag_list rows;
    int r = g->opts->dictionaries ? 0 : load_dictionaries(g, TBD_DICTIONARY, err);

    if (r < 0)
        return r;
    r = ml_legacy_rows(trace, &opts, &rows, err);
    for (size_t i = 0; r == 0 && i < g->dictionaries.len; i++)
        r = put_tbd_dictionary(g, &rows, &g->dictionaries.items[i], file);
    ml_tag_list_release(&rows);
    return r;
}

static int put_trace(struct groups *g, const char *file)
{
    bool is_tbd = g->opts->style == STYLE_TBD;
    struct ml_trace *trace = is_tbd ? ml_tbd_open(file, &g->opts->instant.report)
                                    : ml_report_open(file, &g->opts->instant.report);
    struct ml_progress_line line;
    struct ml_error err = {0};
    int r;

    if (!trace)
        return ML_EXIT_FAILURE;
    ml_progress_line_init(&line, "reading");
    r = is_tbd ? put_tbd(g, trace, file, &line.progress, &err)
               : put_table(g, trace, file, &line.progress, &err);
    ml_progress_line_end(&line);
    ml_trace_free(trace);
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

static int put_traces(struct groups *g, char **files, size_t count)
{
    bool json = g->opts->instant.report.json;
    int status = ML_EXIT_OK;

    if (json) {
        ml_json_init(&g->json, &g->out, true);
        ml_json_begin_object(&g->json);
        ml_json_key(&g->json, "runs");
        ml_json_begin_array(&g->json);
    }
    for (size_t i = 0; status == ML_EXIT_OK && i < count; i++)
        status = put_trace(g, files[i]);
    if (status != ML_EXIT_OK)
        return status;
    if (json) {
        ml_json_end_array(&g->json);
        ml_json_end_object(&g->json);
        if (ml_json_finish(&g->json) < 0)
            return ml_report_fail(&(struct ml_error){0});
    }
    return ml_report_write(&g->out);
}

/* ---- The command -------------------------------------------------------- */

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

/* A file that cannot be read, such as a stray one in a folder, does not keep the others back. */
static int put_tbd_files(struct groups *g, char **operands, size_t count)
{
    struct ml_error err = {0};
    ml_file_list files = {0};
    int status = ML_EXIT_OK, written;

    if (ml_tbd_files(operands, count, &files, &err) < 0)
        status = ml_report_fail(&err);
    for (size_t i = 0; i < files.len; i++)
        if (put_trace(g, files.items[i]) != ML_EXIT_OK)
            status = ML_EXIT_FAILURE;
    ml_tbd_files_release(&files);
    written = ml_report_write(&g->out);
    return written == ML_EXIT_OK ? status : written;
}

static int run_groups(struct groups *g, int argc, char **argv, int first)
{
    const char *names = g->opts->dictionaries;
    struct ml_error err = {0};

    if (names && load_dictionaries(g, names, &err) < 0)
        return ml_report_fail(&err);
    if (g->opts->style == STYLE_TBD)
        return put_tbd_files(g, &argv[first], (size_t)(argc - first));
    return put_traces(g, &argv[first], (size_t)(argc - first));
}

static int run(int argc, char **argv)
{
    struct groups_opts opts = {.top = -1};
    struct groups g = {.opts = &opts};
    int first, status = ml_verb_begin(&ml_verb_groups, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.show)
        return show(opts.show);
    if (argc == first)
        return ml_verb_usage_error(&ml_verb_groups, "no trace given; name one or more .mled files");
    if (opts.gross && opts.instant.at)
        return ml_verb_usage_error(&ml_verb_groups, "--gross covers the whole run; leave out --at");
    if (opts.style == STYLE_TBD && (opts.instant.at || opts.expected))
        return ml_verb_usage_error(
            &ml_verb_groups, "--style tbd covers the whole run, as TBD's script does; leave out "
                             "--at and --expected");
    if (opts.style == STYLE_TBD && opts.instant.report.json)
        return ml_verb_usage_error(&ml_verb_groups,
                                   "--style tbd is text; memledger export --format tbd-analysis "
                                   "writes its JSON");
    if (opts.style == STYLE_MXNET && opts.instant.report.json)
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
