/* report_command.c: see report_command.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "health_report.h"
#include "importer.h"
#include "io.h"
#include "say.h"

#define PIPE_PROSE_WIDTH 100
#define WIDTH_MIN 40

const char *const ml_unit_choices[] = {"auto", "B", "KiB", "MiB", "GiB", NULL};

/* Zeros would look like a run without memory. */
static int check_events(const struct ml_trace *trace, const char *path, struct ml_error *err)
{
    const struct ml_trace_info *info = ml_trace_info(trace);

    if (info->events > 0 || info->being_written || info->ignored_bytes == 0)
        return 0;
    return ml_error_set(err, -ENODATA,
                        "%s: no event can be read: the file is truncated at byte %" PRIu64
                        ", before the end of its first events; copy or record it again",
                        path, info->file_bytes);
}

/* Replaces the error if the file is one that `memledger import` reads. */
static void advise_import(const char *path, struct ml_error *err)
{
    const struct ml_import_format *format = NULL;
    struct ml_import_source source;
    struct ml_error unused = {0};

    if (ml_import_source_open(&source, path, &unused) < 0)
        return;
    if (ml_import_recognise(&source, &format, &unused) == 0)
        ml_error_set(err, -EINVAL,
                     "%s: is not a memledger trace but looks like %s; memledger import %s makes a "
                     "trace of it",
                     path, format->name, path);
    ml_import_source_release(&source);
}

struct ml_trace *ml_report_open(const char *path, const struct ml_report_opts *opts)
{
    struct ml_trace_opts trace_opts = {.salvage = opts->salvage};
    struct ml_trace *trace = NULL;
    struct ml_error err = {0};

    ml_memory_limit(path, opts->max_memory_bytes);
    if (ml_trace_open(path, &trace_opts, &trace, &err) == 0 && check_events(trace, path, &err) == 0)
        return trace;
    if (err.code == -EINVAL) /* not a trace */
        advise_import(path, &err);
    ml_report_fail(&err);
    ml_trace_free(trace);
    return NULL;
}

/* 0: there is no limit, and nothing is cut. */
static size_t text_width(void)
{
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size;

    if (asked > 0 && asked < 100000)
        return asked < WIDTH_MIN ? WIDTH_MIN : (size_t)asked;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    return 0;
}

static bool wants_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
}

struct ml_style ml_report_style(const struct ml_report_opts *opts)
{
    return (struct ml_style){
        .width = text_width(),
        .prose_width = PIPE_PROSE_WIDTH,
        .colour = wants_colour(),
        .unit = (enum ml_unit)opts->unit,
    };
}

int ml_report_write(const struct ml_buf *text)
{
    int r = ml_write_all(STDOUT_FILENO, text->data, text->len);

    if (r == 0)
        return ML_EXIT_OK;
    ml_say("cannot write the report: %s", strerror(-r));
    return ML_EXIT_FAILURE;
}

void ml_report_warn(const struct ml_health *health, const char *name)
{
    const struct ml_style plain = {.width = ml_say_width()};
    struct ml_buf text;

    ml_buf_init(&text);
    if (ml_health_text(health, name, &plain, &text) == 0 && text.len > 0)
        fwrite(text.data, 1, text.len, stderr);
    ml_buf_release(&text);
}

int ml_report_empty(const struct ml_health *health, const char *name, struct ml_error *err)
{
    return ml_error_set(err, -ENODATA, "%s: %s", name, ml_health_empty_words(health));
}

int ml_report_fail(const struct ml_error *err)
{
    struct ml_error said = *err;

    ml_memory_explain(&said);
    ml_say("%s", said.text[0] ? said.text : "out of memory");
    return ML_EXIT_FAILURE;
}

const char *ml_report_operand(const struct ml_verb *verb, int argc, char **argv, int first)
{
    if (argc - first == 1)
        return argv[first];
    if (argc == first)
        ml_verb_usage_error(verb, "no trace given; name a .mled file");
    else
        ml_verb_usage_error(verb, "expected one trace, but got '%s' and '%s'", argv[first],
                            argv[first + 1]);
    return NULL;
}

static int print_report(const struct ml_trace *trace, const char *file,
                        const struct ml_top_opts *opts, ml_report_fn *report)
{
    struct ml_error err = {0};
    struct ml_buf out;
    int status;

    ml_buf_init(&out);
    if (report(trace, file, opts, &out, &err) < 0)
        status = ml_report_fail(&err);
    else
        status = ml_report_write(&out);
    ml_buf_release(&out);
    return status;
}

int ml_report_run(const struct ml_verb *verb, ml_report_fn *report, struct ml_top_opts *opts,
                  int argc, char **argv)
{
    struct ml_trace *trace;
    const char *file;
    int first, status = ml_verb_begin(verb, opts, argc, argv, &first);

    if (status >= 0)
        return status;
    file = ml_report_operand(verb, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    trace = ml_report_open(file, &opts->report);
    if (!trace)
        return ML_EXIT_FAILURE;
    status = print_report(trace, file, opts, report);
    ml_trace_free(trace);
    return status;
}
