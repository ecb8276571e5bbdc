/* cmd_export.c: `memledger export`: converts a trace to a file of another program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "instant_command.h"
#include "memledger/memledger.h"
#include "nearest.h"
#include "package_export.h"
#include "part_guard.h"
#include "progress_line.h"
#include "read_table.h"
#include "say.h"
#include "verbs.h"

#define TRACE_SUFFIX ".mled"

static const char *const level_choices[] = {"auto", "driver", "pool", "block", NULL};

struct export_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    const char *format, *output;
    const char *table;
    int level; /* enum memledger_level, or 0 */
    bool force, safe_csv;
};

static const char *format_word(size_t i)
{
    return ml_exporters[i] ? ml_exporters[i]->name : NULL;
}

static const struct ml_option options[] = {
    {.name = "format",
     .word = format_word,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct export_opts, format),
     .value_name = "NAME",
     .help = "write this format, see below (default: by --output)"},
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct export_opts, output),
     .value_name = "FILE",
     .help =
         "write to FILE, - for standard output; default: the trace's name with the format's suffix",
     .no_env = true},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct export_opts, force),
     .help = "overwrite an existing file",
     .no_env = true},
    {.name = "at",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_instant_opts, at),
     .value_name = "WHEN",
     .help = "choose the instant of formats that hold one: peak, end, oom, step:N, step:N:end, or "
             "a time"},
    ML_OPTION_DEVICE,
    {.name = "level",
     .type = ML_OPT_CHOICE,
     .offset = offsetof(struct export_opts, level),
     .value_name = "LEVEL",
     .choices = level_choices,
     .help = "choose the allocations to list: driver, pool or block; auto: the format's own"},
    {.name = "table",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct export_opts, table),
     .value_name = "NAME",
     .help =
         "csv, json, parquet: write this table: allocations, events, labels, marks, samples, ..."},
    {.name = "safe-csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct export_opts, safe_csv),
     .help = "csv: keep spreadsheets from running cells"},
    ML_READ_OPTIONS,
};

/* ---- The format --------------------------------------------------------- */

static int list_formats(struct ml_buf *out)
{
    int r = ml_buf_puts(out, "Formats:\n");

    for (size_t i = 0; r == 0 && ml_exporters[i]; i++)
        r = ml_buf_printf(out, "  %-15s %-16s %s\n", ml_exporters[i]->name, ml_exporters[i]->suffix,
                          ml_exporters[i]->help);
    return r;
}

static int name_formats(struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && ml_exporters[i]; i++)
        r = ml_buf_printf(out, "%s%s", i ? ", " : "", ml_exporters[i]->name);
    return r;
}

static int wrong_format(const struct export_opts *opts)
{
    struct ml_nearest nearest = {.typed = opts->format};
    struct ml_buf names = {0};

    if (name_formats(&names) < 0)
        return ml_report_fail(&(struct ml_error){0});
    for (size_t i = 0; opts->format && ml_exporters[i]; i++)
        ml_nearest_offer(&nearest, ml_exporters[i]->name);
    if (!opts->format)
        ml_verb_usage_error(&ml_verb_export, "no format given; use --format with one of %s",
                            names.data);
    else if (nearest.word)
        ml_verb_usage_error(&ml_verb_export, "unknown format '%s'; did you mean '%s'?",
                            opts->format, nearest.word);
    else
        ml_verb_usage_error(&ml_verb_export, "unknown format '%s'; choose one of %s", opts->format,
                            names.data);
    ml_buf_release(&names);
    return ML_EXIT_USAGE;
}

/* @return -1: it is known, or none was given; else an exit code */
static int check_table(const struct ml_exporter *exporter, const char *table)
{
    struct ml_nearest nearest = {.typed = table};

    if (!table)
        return -1;
    if (!exporter->has_tables)
        return ml_verb_usage_error(&ml_verb_export,
                                   "--table: %s does not write tables; csv, json and parquet do",
                                   exporter->name);
    if (!exporter->run || ml_table_find(table)) /* the package knows more tables */
        return -1;
    for (size_t i = 0; ml_tables[i]; i++)
        ml_nearest_offer(&nearest, ml_tables[i]->name);
    return ml_verb_usage_error(&ml_verb_export, "--table: unknown table '%s'; %s%s%s", table,
                               nearest.word ? "did you mean '"
                                            : "memledger help python-read lists them",
                               nearest.word ? nearest.word : "", nearest.word ? "'?" : "");
}

static const struct ml_exporter *choose_format(const struct export_opts *opts)
{
    if (opts->format)
        return ml_exporter_find(opts->format);
    return opts->output ? ml_exporter_of_path(opts->output) : NULL;
}

/* ---- The file ----------------------------------------------------------- */

/* "run.mled" -> "run.mxnet.csv", in the current folder. */
static char *name_after(const char *trace_path, const char *suffix)
{
    const char *slash = strrchr(trace_path, '/'), *base = slash ? slash + 1 : trace_path;
    size_t len = strlen(base), tail = strlen(TRACE_SUFFIX);
    char *ret;

    if (len > tail && strcmp(base + len - tail, TRACE_SUFFIX) == 0)
        len -= tail;
    return asprintf(&ret, "%.*s%s", (int)len, base, suffix) < 0 ? NULL : ret;
}

static char *choose_name(const struct ml_exporter *exporter, const struct export_opts *opts,
                         const struct ml_trace *trace, const char *file, uint32_t pid)
{
    char *name = NULL;

    if (opts->output)
        return strdup(opts->output);
    if (exporter->file_name)
        name = exporter->file_name(trace, pid);
    return name ? name : name_after(file, exporter->suffix);
}

static int write_all(const struct ml_exporter *exporter, const struct ml_export_opts *opts,
                     const struct ml_trace *trace, struct ml_output *out, struct ml_error *err)
{
    int r = 0;

    if (exporter->needs_file && !ml_output_has_file(out))
        r = ml_error_set(err, -ESPIPE, "%s: this format needs a regular file; give -o FILE",
                         out->path);
    if (r == 0)
        r = exporter->run(trace, opts, out, err);
    if (r < 0) {
        ml_output_failed(out, r, err);
        ml_output_abort(out);
        return r;
    }
    return ml_output_commit(out, err);
}

static int write_file(const struct ml_exporter *exporter, struct ml_export_opts *opts,
                      const struct ml_trace *trace, const char *path, bool force)
{
    struct ml_progress_line line;
    struct ml_output out;
    struct ml_error err = {0};
    int r;

    ml_part_hold(path);
    r = ml_output_open(&out, path, force, &err);
    ml_part_guard(r == 0 ? out.written : NULL);
    if (r == 0) {
        ml_progress_line_init(&line, "exporting");
        opts->progress = &line.progress;
        r = write_all(exporter, opts, trace, &out, &err);
        opts->progress = NULL;
        ml_progress_line_end(&line);
    }
    ml_part_guard(NULL);
    if (r < 0)
        return ml_report_fail(&err);
    if (strcmp(path, "-") != 0)
        ml_say_path(path);
    return ML_EXIT_OK;
}

/* ---- The command -------------------------------------------------------- */

static int export_one(const struct ml_exporter *exporter, const struct export_opts *opts,
                      struct ml_export_opts *how, const struct ml_trace *trace, const char *file)
{
    char *path = choose_name(exporter, opts, trace, file, how->pid);
    int status = path ? write_file(exporter, how, trace, path, opts->force)
                      : ml_report_fail(&(struct ml_error){0});

    free(path);
    return status;
}

/* A file for each process, if the format supports that and no name was given. */
static int export_each(const struct ml_exporter *exporter, const struct export_opts *opts,
                       struct ml_export_opts *how, const struct ml_trace *trace, const char *file)
{
    struct ml_error err = {0};
    ml_pid_list pids = {0};
    int status = ML_EXIT_OK;

    if (exporter->processes(trace, how, &pids, &err) < 0)
        status = ml_report_fail(&err);
    else if (pids.len == 0)
        status = export_one(exporter, opts, how, trace, file);
    for (size_t i = 0; status == ML_EXIT_OK && i < pids.len; i++) {
        how->pid = pids.items[i];
        status = export_one(exporter, opts, how, trace, file);
    }
    ml_vec_release(&pids);
    return status;
}

static int export_trace(const struct ml_exporter *exporter, const struct export_opts *opts,
                        struct ml_export_opts *how, const char *file)
{
    struct ml_trace *trace = ml_report_open(file, &opts->instant.report);
    int status;

    if (!trace)
        return ML_EXIT_FAILURE;
    how->file = file;
    how->salvage = opts->instant.report.salvage;
    status = exporter->processes && !opts->output ? export_each(exporter, opts, how, trace, file)
                                                  : export_one(exporter, opts, how, trace, file);
    ml_trace_free(trace);
    return status;
}

/* By the Python package. @return an exit code, only if it cannot be started */
static int export_in_python(const struct ml_exporter *exporter, const struct export_opts *opts,
                            const char *file)
{
    char *folder = opts->output ? strdup(opts->output) : name_after(file, exporter->suffix);
    struct ml_package_export how = {
        .trace = file,
        .folder = folder,
        .table = opts->table,
        .force = opts->force,
        .salvage = opts->instant.report.salvage,
    };
    int status;

    if (opts->instant.report.max_memory_bytes > 0)
        status = ml_verb_usage_error(
            &ml_verb_export, "--max-memory does not apply to %s: Python writes it", exporter->name);
    else
        status = folder ? ml_package_export(&how) : ml_report_fail(&(struct ml_error){0});
    free(folder);
    return status;
}

static int run(int argc, char **argv)
{
    struct export_opts opts = {0};
    struct ml_export_opts how = {0};
    const struct ml_exporter *exporter;
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_export, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    exporter = choose_format(&opts);
    if (!exporter)
        return wrong_format(&opts);
    if (opts.instant.at && exporter->whole_run)
        return ml_verb_usage_error(&ml_verb_export,
                                   "--at does not apply to %s: it contains the whole run",
                                   exporter->name);
    if ((opts.instant.device || opts.level) && exporter->all_devices)
        return ml_verb_usage_error(&ml_verb_export,
                                   "--%s does not apply to %s: it contains all devices and levels",
                                   opts.instant.device ? "device" : "level", exporter->name);
    status = check_table(exporter, opts.table);
    if (status >= 0)
        return status;
    how.table = opts.table;
    how.safe_csv = opts.safe_csv;
    status = ml_instant_parse(&ml_verb_export, opts.instant.at, &how.at);
    if (status >= 0)
        return status;
    how.at_given = opts.instant.at != NULL;
    how.device = opts.instant.device;
    how.level = (unsigned)opts.level;
    file = ml_report_operand(&ml_verb_export, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    return exporter->run ? export_trace(exporter, &opts, &how, file)
                         : export_in_python(exporter, &opts, file);
}

const struct ml_verb ml_verb_export = {
    .name = "export",
    .summary = "convert a trace into a file of another tool",
    .usage = "--format NAME [OPTION]... FILE",
    .more_details = list_formats,
    .group = ML_GROUP_EXCHANGE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
