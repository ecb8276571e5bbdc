/* cmd_import.c: `memledger import`: converts files of other programs to traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "importer.h"
#include "memory_limit.h"
#include "nearest.h"
#include "output_name.h"
#include "part_guard.h"
#include "progress_line.h"
#include "say.h"
#include "symbolize.h"
#include "text.h"
#include "verbs.h"

#define DEFAULT_OUTPUT "memledger-%n.mled"

struct import_opts {
    const char *output, *format, *columns;
    uint64_t interval_ns, max_memory_bytes;
    bool force, quiet;
};

static const char *format_word(size_t i)
{
    return ml_import_formats[i] ? ml_import_formats[i]->name : NULL;
}

static const struct ml_option options[] = {
    {.name = "format",
     .word = format_word,
     .type = ML_OPT_STRING,
     .offset = offsetof(struct import_opts, format),
     .value_name = "NAME",
     .help = "read FILE as this format; list prints them all",
     .no_env = true},
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct import_opts, output),
     .value_name = "FILE",
     .help = "write to FILE (" DEFAULT_OUTPUT "; %n: name of the input)",
     .no_env = true},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct import_opts, force),
     .help = "overwrite the trace if it exists",
     .no_env = true},
    {.name = "interval",
     .type = ML_OPT_DURATION,
     .offset = offsetof(struct import_opts, interval_ns),
     .value_name = "TIME",
     .help = "set the time between rows of a log without times: 10ms",
     .no_env = true},
    {.name = "columns",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct import_opts, columns),
     .value_name = "A,B,...",
     .help = "name the columns of an nvidia-smi log without a header, as in --query-gpu",
     .no_env = true},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct import_opts, quiet),
     .help = "hide progress and closing note"},
    ML_OPTION_MAX_MEMORY(struct import_opts, max_memory_bytes),
};

static int fail(struct ml_error *err)
{
    ml_memory_explain(err);
    ml_say("%s", err->text);
    return ML_EXIT_FAILURE;
}

/* ---- Names -------------------------------------------------------------- */

/* "memory_fft" of "logs/memory_fft.txt"; of "x.json.gz" it is "x". */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    const char *dot;
    size_t len = strlen(base);

    if (strcmp(path, "-") == 0)
        return strdup("stdin");
    if (len > 3 && strcmp(base + len - 3, ".gz") == 0)
        len -= 3;
    dot = memrchr(base, '.', len);
    if (dot && dot > base)
        len = (size_t)(dot - base);
    return strndup(base, len);
}

static int output_of(const struct import_opts *opts, const char *path, char **ret,
                     struct ml_error *err)
{
    const char *pattern = opts->output ? opts->output : DEFAULT_OUTPUT;
    char *stem = stem_of(path), *in_dir = NULL;
    struct stat st;
    int r = stem ? 0 : -ENOMEM;

    if (r == 0 && stat(pattern, &st) == 0 && S_ISDIR(st.st_mode)) {
        r = asprintf(&in_dir, "%s/%s", pattern, DEFAULT_OUTPUT) < 0 ? -ENOMEM : 0;
        pattern = in_dir;
    }
    if (r == 0)
        r = ml_output_name(pattern, stem, getpid(), ret, err);
    else
        ml_error_set(err, r, "not enough memory");
    free(stem);
    free(in_dir);
    return r;
}

/* Whether each of several files gets a different name. */
static bool names_differ(const char *output)
{
    struct stat st;

    return !output || strstr(output, "%n") || (stat(output, &st) == 0 && S_ISDIR(st.st_mode));
}

/* ---- One file ----------------------------------------------------------- */

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    ml_progress_tell(ctx, done, total);
}

static int convert(const struct ml_import_format *format, struct ml_import_source *source,
                   struct ml_import_sink *sink, struct ml_import_counts *ret, struct ml_error *err)
{
    int r = 0;

    if (!format)
        r = ml_import_recognise(source, &format, err);
    if (r == 0)
        r = ml_import_run(format, source, sink, err);
    if (r < 0) {
        ml_import_sink_abandon(sink);
        return r;
    }
    return ml_import_sink_close(sink, ret, err);
}

/* An empty trace is rarely intended, even if the file is complete. */
static void warn_of_nothing(const char *path)
{
    ml_say("warning: %s contains no allocations; its trace is empty", path);
}

static void count_words(uint64_t count, const char *thing, char ret[static 40])
{
    char number[32];

    snprintf(ret, 40, "%s %s%s", ml_format_count(number, (int64_t)count), thing,
             count == 1 ? "" : "s");
}

static void tell(const struct import_opts *opts, const char *path, const char *trace,
                 const struct ml_import_counts *counts)
{
    char events[40] = "", samples[40] = "";
    bool both = counts->events > 0 && counts->samples > 0;

    if (counts->events == 0 && counts->samples == 0)
        warn_of_nothing(path);
    if (counts->events > 0 || counts->samples == 0)
        count_words(counts->events, "event", events);
    if (counts->samples > 0)
        count_words(counts->samples, "sample", samples);
    if (!opts->quiet)
        ml_say("%s%s%s in %s; see memledger summary %s", events, both ? " and " : "", samples,
               trace, trace);
}

/* Source files name addresses; their libraries, as far as they are here, the functions. */
static void name_functions(const struct import_opts *opts, const char *trace)
{
    struct ml_symbolize_opts how = {0};
    struct ml_symbolized done;
    struct ml_progress_line line;
    struct ml_error err = {0};

    ml_progress_line_init(&line, "looking up functions");
    if (!opts->quiet)
        how.progress = &line.progress;
    if (ml_symbolize(trace, &how, &done, &err) < 0)
        ml_say("no function names: %s; memledger symbolize looks them up later", err.text);
    ml_progress_line_end(&line);
    ml_symbolized_release(&done);
}

static int import_file(const struct import_opts *opts, const struct ml_import_format *format,
                       const char *path)
{
    struct ml_import_source source;
    struct ml_import_sink sink;
    struct ml_progress_line line;
    struct ml_error err = {0};
    char *trace = NULL;
    struct ml_import_counts counts = {0};
    int r = output_of(opts, path, &trace, &err);

    if (r < 0)
        return fail(&err);
    ml_memory_limit(path, opts->max_memory_bytes);
    r = ml_import_source_open(&source, path, &err);
    if (r == 0) {
        source.opts = (struct ml_import_opts){opts->interval_ns, opts->columns};
        ml_progress_line_init(&line, source.name);
        if (!opts->quiet) {
            source.on_progress = on_progress;
            source.progress_ctx = &line.progress;
        }
        ml_part_hold(trace);
        r = ml_import_sink_open(&sink, trace, opts->force, &err);
        ml_part_guard(r == 0 ? sink.part : NULL);
        if (r == 0)
            r = convert(format, &source, &sink, &counts, &err);
        ml_part_guard(NULL);
        ml_progress_line_end(&line);
        ml_import_source_release(&source);
    }
    if (r == 0 && counts.unnamed_frames)
        name_functions(opts, trace);
    if (r == 0)
        tell(opts, path, trace, &counts);
    free(trace);
    return r < 0 ? fail(&err) : ML_EXIT_OK;
}

/* ---- The command -------------------------------------------------------- */

static int unknown_format(const char *name)
{
    struct ml_nearest nearest = {.typed = name};
    char names[ML_IMPORT_LIST_BYTES];

    for (size_t i = 0; ml_import_formats[i]; i++)
        ml_nearest_offer(&nearest, ml_import_formats[i]->name);
    if (nearest.word)
        return ml_verb_usage_error(&ml_verb_import,
                                   "--format: unknown format '%s'; did you mean '%s'?", name,
                                   nearest.word);
    return ml_verb_usage_error(&ml_verb_import, "--format: unknown format '%s'; choose one of %s",
                               name, ml_import_format_list(names));
}

static int list_formats(void)
{
    for (size_t i = 0; ml_import_formats[i]; i++)
        printf("%-16s  %s\n", ml_import_formats[i]->name, ml_import_formats[i]->help);
    return ML_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct import_opts opts = {0};
    const struct ml_import_format *format = NULL;
    int first, status = ml_verb_begin(&ml_verb_import, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (opts.format && strcmp(opts.format, "list") == 0)
        return list_formats();
    if (first == argc)
        return ml_verb_usage_error(&ml_verb_import,
                                   "no file given; name one or more, or - for standard input");
    if (argc - first > 1 && !names_differ(opts.output))
        return ml_verb_usage_error(&ml_verb_import,
                                   "-o %s: one name for %d files; give a directory, or %%n for "
                                   "the name of each",
                                   opts.output, argc - first);
    if (opts.format) {
        format = ml_import_format_find(opts.format);
        if (!format)
            return unknown_format(opts.format);
    }
    status = ML_EXIT_OK;
    for (int i = first; i < argc; i++)
        if (import_file(&opts, format, argv[i]) != ML_EXIT_OK)
            status = ML_EXIT_FAILURE;
    return status;
}

const struct ml_verb ml_verb_import = {
    .name = "import",
    .summary = "convert files of other tools into traces",
    .usage = "[OPTION]... FILE...",
    .details = "The format is recognized from the content; --format overrides that, and\n"
               "--format list prints all formats. \"-\" is standard input. Files compressed with\n"
               "gzip, zstd or LZ4 are unpacked.",
    .group = ML_GROUP_EXCHANGE,
    .operands = ML_OPERANDS_PROGRAM,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
