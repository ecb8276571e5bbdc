/* cmd_digest.c: `memledger digest`: the figures of a trace that a report on a whole job needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "digest_report.h"
#include "digest_store.h"
#include "report_command.h"
#include "say.h"
#include "text.h"
#include "verbs.h"

struct digest_opts {
    struct ml_report_opts report; /* first, as its options require */
    const char *output;
    bool force, quiet;
};

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct digest_opts, output),
     .value_name = "OUT",
     .help = "write to OUT (FILE" ML_DIGEST_SUFFIX ")"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct digest_opts, force),
     .help = "overwrite an existing file"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct digest_opts, quiet),
     .help = "hide notes, but not errors"},
    {.name = "json",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct digest_opts, report.json),
     .help = "print the digest as JSON, write no file"},
    ML_READ_OPTIONS,
};

static int print(const struct ml_digest *digest, const char *file)
{
    struct ml_buf out = {0};
    int status = ml_digest_json(digest, file, &out) < 0 ? ml_report_fail(&(struct ml_error){0})
                                                        : ml_report_write(&out);

    ml_buf_release(&out);
    return status;
}

static void note(const struct ml_digest *digest, const char *path)
{
    struct stat file;
    char size[32] = "?";

    if (stat(path, &file) == 0)
        ml_format_bytes(size, file.st_size, ML_UNIT_AUTO);
    ml_say("%s: %s, %zu rank%s; memledger ranks reads it", path, size, digest->ranks.len,
           digest->ranks.len == 1 ? "" : "s");
}

static int write(struct ml_digest *digest, const char *file, const struct digest_opts *opts,
                 struct ml_error *err)
{
    struct ml_buf path = {0};
    int r = opts->output ? ml_buf_puts(&path, opts->output)
                         : ml_buf_printf(&path, "%s" ML_DIGEST_SUFFIX, file);

    if (r == 0)
        r = ml_digest_store_write(digest, (const char *)path.data, opts->force, err);
    if (r == 0 && !opts->quiet)
        note(digest, (const char *)path.data);
    ml_buf_release(&path);
    return r;
}

/* The operand is a trace; with --json, it may be a digest. */
static int get(const char *file, const struct digest_opts *opts, struct ml_digest *ret,
               struct ml_error *err)
{
    size_t len = strlen(file), suffix = strlen(ML_DIGEST_SUFFIX);

    if (len > suffix && strcmp(file + len - suffix, ML_DIGEST_SUFFIX) == 0)
        return ml_digest_store_read(file, ret, err);
    return ml_digest_store_make(file, opts->report.salvage, ret, err);
}

static int run(int argc, char **argv)
{
    struct digest_opts opts = {0};
    struct ml_digest digest = {0};
    struct ml_error err = {0};
    const char *file;
    int first, r, status = ml_verb_begin(&ml_verb_digest, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    file = ml_report_operand(&ml_verb_digest, argc, argv, first);
    if (!file)
        return ML_EXIT_USAGE;
    ml_memory_limit(file, opts.report.max_memory_bytes);
    r = get(file, &opts, &digest, &err);
    if (r == 0 && opts.report.json)
        status = print(&digest, file);
    else {
        if (r == 0)
            r = write(&digest, file, &opts, &err);
        status = r < 0 ? ml_report_fail(&err) : ML_EXIT_OK;
    }
    ml_digest_release(&digest);
    return status;
}

const struct ml_verb ml_verb_digest = {
    .name = "digest",
    .summary = "condense a trace into a small file for memledger ranks",
    .usage = "[OPTION]... FILE",
    .details = "run writes one by itself for a program that is part of a distributed job.",
    .group = ML_GROUP_COMPARE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
