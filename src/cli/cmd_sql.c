/* cmd_sql.c: `memledger sql`: queries a trace in SQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "progress_line.h"
#include "report_command.h"
#include "sql_print.h"
#include "sql_query.h"
#include "verbs.h"

struct sql_opts {
    struct ml_report_opts report; /* first, as its option entries want it */
    bool csv, safe_csv;
};

static const struct ml_option options[] = {
    {.name = "csv",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct sql_opts, csv),
     .help = "print comma-separated values, with a line of names"},
    ML_OPTION_SAFE_CSV(struct sql_opts, safe_csv),
    {.name = "json",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct sql_opts, report.json),
     .help = "print one JSON object: columns and rows"},
    ML_READ_OPTIONS,
};

static int print(struct ml_sql *sql, const char *question, const struct sql_opts *opts,
                 struct ml_error *err)
{
    struct ml_style style = ml_report_style(&opts->report);
    enum ml_sql_form csv = opts->safe_csv ? ML_SQL_SAFE_CSV : ML_SQL_CSV;
    enum ml_sql_form form = opts->report.json ? ML_SQL_JSON : opts->csv ? csv : ML_SQL_TEXT;
    struct ml_progress_line line;
    sqlite3_stmt *stmt = NULL;
    int r;

    if (question) {
        ml_progress_line_init(&line, "reading");
        r = ml_sql_prepare(sql, question, &line.progress, &stmt, err);
        ml_progress_line_end(&line);
    } else {
        r = ml_sql_prepare_list(sql, &stmt, err);
    }
    if (r == 0)
        r = question || form != ML_SQL_TEXT ? ml_sql_print(stmt, form, &style, err)
                                            : ml_sql_print_list(stmt, &style, err);
    sqlite3_finalize(stmt);
    return r;
}

static int answer(const struct ml_trace *trace, const char *file, const char *question,
                  const struct sql_opts *opts)
{
    struct ml_sql sql;
    struct ml_error err = {0};
    int r = trace ? ml_sql_open_trace(&sql, trace, &err) : ml_sql_open_file(&sql, file, &err);

    if (r == 0)
        r = print(&sql, question, opts, &err);
    ml_sql_close(&sql);
    if (r == -EPIPE && !err.text[0]) /* reported already */
        return ML_EXIT_FAILURE;
    return r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct sql_opts opts = {0};
    struct ml_trace *trace = NULL;
    const char *file, *question;
    int first, status = ml_verb_begin(&ml_verb_sql, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.csv && opts.report.json)
        return ml_verb_usage_error(&ml_verb_sql, "--csv and --json exclude each other; choose one");
    if (argc == first)
        return ml_verb_usage_error(&ml_verb_sql, "no trace given; name a .mled or .sqlite file");
    if (argc - first > 2)
        return ml_verb_usage_error(
            &ml_verb_sql, "'%s' is one operand too many; put the query in quotes", argv[first + 2]);
    file = argv[first];
    question =
        argc - first == 2 && strcmp(argv[first + 1], ".tables") != 0 ? argv[first + 1] : NULL;
    if (!ml_sql_is_database(file)) {
        trace = ml_report_open(file, &opts.report);
        if (!trace)
            return ML_EXIT_FAILURE;
    } else {
        ml_memory_limit(file, opts.report.max_memory_bytes);
    }
    status = answer(trace, file, question, &opts);
    ml_trace_free(trace);
    return status;
}

const struct ml_verb ml_verb_sql = {
    .name = "sql",
    .summary = "query a trace in SQL",
    .usage = "[OPTION]... FILE [\"SELECT ...\"]",
    .details = "FILE is a trace, or a database written by memledger export --format sqlite.\n"
               "Without a query, or with .tables, list the tables and their columns.",
    .group = ML_GROUP_EXCHANGE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
