/* groups_output.c: see groups_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups_output.h"

#include <errno.h>
#include <inttypes.h>

#include "groups_report.h"
#include "legacy_rows.h"
#include "mxnet_report.h"
#include "progress_line.h"
#include "say.h"
#include "tbd_operands.h"
#include "tbd_report.h"

#define DEFAULT_TOP 5
#define TBD_DICTIONARY "tbd"

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

static int put_dictionary(struct ml_groups_output *g, const struct ml_tag_list *list,
                          const struct ml_dictionary *dictionary,
                          const struct ml_grouping_opts *opts)
{
    struct ml_grouping grouping;
    int r = ml_grouping(list, dictionary, opts, &grouping);

    if (r == 0 && g->opts->style == ML_GROUPS_STYLE_MXNET) {
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

static size_t top_of(const struct ml_groups_opts *opts)
{
    if (opts->top >= 0)
        return (size_t)opts->top;
    return opts->style == ML_GROUPS_STYLE_MXNET ? ML_MXNET_TOP : DEFAULT_TOP;
}

static int put_dictionaries(struct ml_groups_output *g, const struct ml_trace *trace,
                            const char *file, const struct ml_tag_list *list, struct ml_error *err)
{
    bool mxnet = g->opts->style == ML_GROUPS_STYLE_MXNET, json = g->opts->instant.report.json;
    struct ml_grouping_opts opts = {.top = top_of(g->opts),
                                    .torch_words = list->torch && !mxnet,
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

int ml_groups_load_dictionaries(struct ml_groups_output *g, const char *names, struct ml_error *err)
{
    int r;

    ml_dictionaries_release(&g->dictionaries);
    r = ml_dictionaries_load(names, &g->dictionaries, err);
    for (size_t i = 0; r == 0 && g->opts->match && i < g->dictionaries.len; i++)
        g->dictionaries.items[i].match = (enum ml_match)(g->opts->match - 1);
    return r;
}

/* Data structures have the names that the framework gives them. */
static const char *default_for(const struct ml_groups_output *g, const struct ml_trace *trace)
{
    return g->opts->style == ML_GROUPS_STYLE_TABLE && ml_trace_has_torch_alone(trace)
               ? ML_GROUPS_TORCH_DICTIONARIES
               : ML_GROUPS_DICTIONARIES;
}

/* Every block of a program without a framework would be one of the others. */
static int load_default(struct ml_groups_output *g, const struct ml_trace *trace, const char *file,
                        struct ml_error *err)
{
    if (g->opts->style == ML_GROUPS_STYLE_TABLE && ml_trace_has_libc_alone(trace))
        return ml_error_set(err, -ENOENT,
                            "%s has blocks of malloc only, which no built-in dictionary names; "
                            "memledger table groups them, -d takes a dictionary of your own",
                            file);
    return ml_groups_load_dictionaries(g, default_for(g, trace), err);
}

static int put_table(struct ml_groups_output *g, const struct ml_trace *trace, const char *file,
                     struct ml_progress *progress, struct ml_error *err)
{
    struct ml_tag_list_opts opts = {
        .device = g->opts->instant.device,
        .gross = g->opts->gross,
        .at = g->at,
        .progress = progress,
    };
    struct ml_tag_list list;
    int r = g->opts->dictionaries ? 0 : load_default(g, trace, file, err);

    if (r < 0)
        return r;
    r = ml_tag_list(trace, &opts, &list, err);
    if (r == 0)
        r = put_dictionaries(g, trace, file, &list, err);
    ml_tag_list_release(&list);
    return r;
}

static int put_tbd_dictionary(struct ml_groups_output *g, const struct ml_tag_list *rows,
                              const struct ml_dictionary *dictionary, const char *file)
{
    struct ml_tbd_analysis analysis;
    int r = ml_tbd_analysis(rows, dictionary, &analysis);

    if (r == 0)
        r = ml_tbd_text(&analysis, file, &g->out);
    g->tbd_unknown += analysis.unknown.len;
    ml_tbd_analysis_release(&analysis);
    return r;
}

static int put_tbd(struct ml_groups_output *g, const struct ml_trace *trace, const char *file,
                   struct ml_progress *progress, struct ml_error *err)
{
    struct ml_export_opts opts = {.device = g->opts->instant.device, .progress = progress};
    struct ml_tag_list rows;
    int r = g->opts->dictionaries ? 0 : ml_groups_load_dictionaries(g, TBD_DICTIONARY, err);

    if (r < 0)
        return r;
    r = ml_legacy_rows(trace, &opts, &rows, err);
    for (size_t i = 0; r == 0 && i < g->dictionaries.len; i++)
        r = put_tbd_dictionary(g, &rows, &g->dictionaries.items[i], file);
    ml_tag_list_release(&rows);
    return r;
}

static int put_trace(struct ml_groups_output *g, const char *file)
{
    bool is_tbd = g->opts->style == ML_GROUPS_STYLE_TBD;
    struct ml_trace *trace = is_tbd ? ml_tbd_open(file, &g->opts->instant.report)
                                    : ml_instant_open(file, &g->opts->instant);
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

int ml_groups_put_traces(struct ml_groups_output *g, char **files, size_t count)
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

/* The script ends in such a guide too. */
static void tell_tbd_unknown(uint64_t allocations)
{
    if (allocations)
        ml_say("%" PRIu64
               " allocation%s an UNKNOWN TAG and %s in no total; to count them, save the "
               "output of `memledger groups --show tbd`, add keywords, and name that file with -d",
               allocations, allocations == 1 ? " has" : "s have", allocations == 1 ? "is" : "are");
}

int ml_groups_put_tbd(struct ml_groups_output *g, char **operands, size_t count)
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
    tell_tbd_unknown(g->tbd_unknown);
    return written == ML_EXIT_OK ? status : written;
}
