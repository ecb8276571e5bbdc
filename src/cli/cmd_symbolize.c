/* cmd_symbolize.c: `memledger symbolize`: source lines for the native stacks of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "memory_limit.h"
#include "progress_line.h"
#include "report_command.h"
#include "say.h"
#include "symbolize.h"
#include "text.h"
#include "verbs.h"

#define LIBRARIES_NAMED 5

struct symbolize_opts {
    const char *sysroot, *debug_dir;
    bool quiet;
};

static const struct ml_option options[] = {
    {.name = "sysroot",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct symbolize_opts, sysroot),
     .value_name = "DIR",
     .help = "look for programs and libraries below DIR instead of /"},
    {.name = "debug-dir",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct symbolize_opts, debug_dir),
     .value_name = "DIR",
     .help = "look for separate debug files in DIR too"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct symbolize_opts, quiet),
     .help = "hide progress and notes, but not errors"},
};

static const char *shortfall(enum ml_symbol_depth found)
{
    switch (found) {
    case ML_SYMBOLS_NO_FILE: return "is not here, or is another build";
    case ML_SYMBOLS_NONE: return "has no debug information";
    case ML_SYMBOLS_NAMES: return "has function names only";
    case ML_SYMBOLS_LINES: break;
    }
    return "";
}

/* The libraries without lines that most frames are in. */
static void note_libraries(const struct ml_symbolized *done)
{
    size_t named = 0, left = 0;

    for (size_t i = 0; i < done->libraries.len; i++) {
        const struct ml_symbolized_library *library = &done->libraries.items[i];

        if (library->found == ML_SYMBOLS_LINES)
            continue;
        if (named++ < LIBRARIES_NAMED)
            ml_say("%s (%" PRIu32 " frame%s) %s", library->path, library->frames,
                   library->frames == 1 ? "" : "s", shortfall(library->found));
        else
            left++;
    }
    if (left > 0)
        ml_say("and %zu other librar%s without source lines", left, left == 1 ? "y" : "ies");
}

/* What a server said is not known: libdw keeps it to itself. */
static void note_servers(const struct ml_symbolized *done)
{
    const char *servers = getenv(ML_SERVERS_VARIABLE);
    size_t without = 0;

    for (size_t i = 0; i < done->libraries.len; i++)
        without += done->libraries.items[i].found != ML_SYMBOLS_LINES;
    if (servers && *servers && without > 0)
        ml_say("the servers of " ML_SERVERS_VARIABLE
               " (%s) have no debug files of %s, or cannot be "
               "reached",
               servers, without == 1 ? "that library" : "these libraries");
}

static void note(const struct ml_symbolized *done, const char *file)
{
    char frames[32], lines[32], named[32], inlined[32];

    ml_say("%s of %s frames have a source line, %s a function; %s inlined: %s",
           ml_format_count(lines, done->lines), ml_format_count(frames, done->frames),
           ml_format_count(named, done->named), ml_format_count(inlined, done->inlined), file);
    if (!ml_symbolize_reads_lines())
        ml_say("this memledger was built without libdw: it reads symbol tables only");
    else {
        note_libraries(done);
        note_servers(done);
    }
}

static int symbolize(const char *file, const struct symbolize_opts *opts)
{
    struct ml_symbolize_opts how = {.sysroot = opts->sysroot, .debug_dir = opts->debug_dir};
    struct ml_progress_line line;
    struct ml_symbolized done;
    struct ml_error err = {0};
    int r;

    ml_progress_line_init(&line, "looking up functions");
    if (!opts->quiet)
        how.progress = &line.progress;
    r = ml_symbolize(file, &how, &done, &err);
    ml_progress_line_end(&line);
    if (r < 0)
        ml_report_fail(&err);
    else if (done.frames == 0)
        ml_say("%s: has no native stacks; memledger run --heap --stacks native records them", file);
    else if (!opts->quiet)
        note(&done, file);
    ml_symbolized_release(&done);
    return r < 0 ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

/* libdw takes a relative path for one beside each library.
 * @dir    replaced by its whole path; NULL stays
 * @return negative to continue, else the exit code */
static int complete(const char *option, const char **dir, char buf[PATH_MAX])
{
    if (!*dir)
        return -1;
    if (!realpath(*dir, buf))
        return ml_verb_usage_error(&ml_verb_symbolize, "--%s: %s: %s", option, *dir,
                                   strerror(errno));
    *dir = buf;
    return -1;
}

static int run(int argc, char **argv)
{
    char sysroot[PATH_MAX], debug_dir[PATH_MAX];
    struct symbolize_opts opts = {0};
    const char *file;
    int first, status = ml_verb_begin(&ml_verb_symbolize, &opts, argc, argv, &first);

    if (status < 0)
        status = complete("sysroot", &opts.sysroot, sysroot);
    if (status < 0)
        status = complete("debug-dir", &opts.debug_dir, debug_dir);
    if (status >= 0)
        return status;
    file = ml_report_operand(&ml_verb_symbolize, argc, argv, first);
    return file ? symbolize(file, &opts) : ML_EXIT_USAGE;
}

const struct ml_verb ml_verb_symbolize = {
    .name = "symbolize",
    .summary = "add source lines and inlined functions to native stacks",
    .usage = "[OPTION]... FILE",
    .details = "run does this after the program has ended. Files are found by their build-id;\n"
               "servers of debug files are asked if DEBUGINFOD_URLS names any.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
