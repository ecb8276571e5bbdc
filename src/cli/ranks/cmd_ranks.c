/* cmd_ranks.c: `memledger ranks`: a whole job: which rank differs from its peers, and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "canvas.h"
#include "digest_store.h"
#include "digest_workers.h"
#include "output_file.h"
#include "part_guard.h"
#include "plot_ranks.h"
#include "rank_files.h"
#include "ranks_report.h"
#include "report_command.h"
#include "say.h"
#include "verbs.h"

struct ranks_opts {
    struct ml_top_opts top; /* first, as its options require */
    const char *job, *plot;
    bool force;
};

static const struct ml_option options[] = {
    {.name = "job",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ranks_opts, job),
     .value_name = "NAME",
     .help = "show the job NAME (the latest)"},
    {.name = "plot",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ranks_opts, plot),
     .value_name = "OUT",
     .help = "draw ranks and steps into OUT: .svg, .png or .pdf"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ranks_opts, force),
     .help = "overwrite an existing file"},
    ML_TOP_OPTIONS("ranks in the table"),
};

/* All digests of a job. */
struct job {
    struct ml_rank_files files;
    ML_VEC(struct ml_digest) digests;
    ML_VEC(struct ml_rank_source) sources;
};

static void release(struct job *job)
{
    for (size_t i = 0; i < job->digests.len; i++)
        ml_digest_release(&job->digests.items[i]);
    ml_vec_release(&job->digests);
    ml_vec_release(&job->sources);
    ml_rank_files_release(&job->files);
}

/* ---- Digests ---------------------------------------------------------------------- */

/* A digest of the trace as it is now, or of one that is not here. */
static bool is_current(const struct ml_rank_file *file, const struct ml_digest *digest)
{
    struct stat about;

    return !file->has_trace || stat(file->trace, &about) < 0 ||
           (uint64_t)about.st_size == digest->trace_bytes;
}

/* @return 0, -ESTALE if it must be made again, or another negative errno */
static int read_one(const struct ml_rank_file *file, struct ml_digest *ret, struct ml_error *err)
{
    int r = file->has_digest ? ml_digest_store_read(file->digest, ret, err) : -ESTALE;

    if (r == -ENOMEM || (r < 0 && !file->has_trace))
        return r;
    if (r < 0 || !is_current(file, ret)) {
        ml_digest_release(ret);
        *err = (struct ml_error){0};
        return -ESTALE;
    }
    return 0;
}

static int keep(struct job *job, struct ml_digest *digest)
{
    if (ml_vec_push(&job->digests, *digest) < 0) {
        ml_digest_release(digest);
        return -ENOMEM;
    }
    return 0;
}

typedef ML_VEC(struct ml_digest_work) works;

/* Reads the digests that exist; the rest is work. */
static int read_existing(struct job *job, const struct ml_report_opts *opts, works *work,
                         struct ml_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < job->files.list.len; i++) {
        const struct ml_rank_file *file = &job->files.list.items[i];
        struct ml_digest digest = {0};

        ml_memory_limit(file->has_digest ? file->digest : file->trace, opts->max_memory_bytes);
        r = read_one(file, &digest, err);
        if (r == 0)
            r = keep(job, &digest);
        else if (r == -ESTALE)
            r = ml_vec_push(work, (struct ml_digest_work){file->trace, file->digest, false}) < 0
                    ? -ENOMEM
                    : keep(job, &digest);
    }
    return r;
}

/* Places in the list of digests are kept for those that are made here. */
static int read_made(struct job *job, const works *work, struct ml_error *err)
{
    size_t next = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < job->files.list.len; i++)
        if (next < work->len && work->items[next].trace == job->files.list.items[i].trace)
            if (work->items[next++].done)
                r = ml_digest_store_read(job->files.list.items[i].digest, &job->digests.items[i],
                                         err);
    return r;
}

static int add_sources(struct job *job)
{
    for (size_t i = 0; i < job->digests.len; i++) {
        const struct ml_rank_file *file = &job->files.list.items[i];

        if (job->digests.items[i].ranks.len > 0 &&
            ml_vec_push(&job->sources, (struct ml_rank_source){&job->digests.items[i], file->trace,
                                                               !file->has_trace}) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int load(struct job *job, const struct ml_report_opts *opts, struct ml_error *err)
{
    works work = {0};
    int r = read_existing(job, opts, &work, err);

    if (r == 0 && work.len > 0)
        ml_digest_workers(work.items, work.len, opts->salvage, opts->max_memory_bytes);
    if (r == 0)
        r = read_made(job, &work, err);
    if (r == 0)
        r = add_sources(job);
    if (r == 0 && job->sources.len == 0)
        r = ml_error_set(err, -ENODATA, "no trace could be read");
    ml_vec_release(&work);
    return r;
}

/* ---- Output ------------------------------------------------------------------------ */

static int draw(const struct ml_ranks *ranks, const struct ranks_opts *opts, struct ml_error *err)
{
    struct ml_picture_opts picture = {.scale = 2};
    struct ml_canvas canvas = {0};
    struct ml_output out;
    int r;

    if (!ml_picture_format_of(opts->plot, &picture.format))
        return ml_error_set(err, -EINVAL, "--plot: %s: the name must end in .svg, .png or .pdf",
                            opts->plot);
    ml_plot_ranks(&canvas, ranks, (enum ml_unit)opts->top.report.unit);
    ml_part_hold(opts->plot);
    r = ml_output_open(&out, opts->plot, opts->force, err);
    ml_part_guard(r == 0 ? out.written : NULL);
    if (r == 0) {
        r = ml_canvas_write(&canvas, &picture, &out.text, err);
        if (r == 0)
            r = ml_output_commit(&out, err);
        else
            ml_output_abort(&out);
    }
    ml_part_guard(NULL);
    ml_canvas_release(&canvas);
    return r;
}

static int print(const struct ml_ranks *ranks, const struct ranks_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->top.report);
    struct ml_buf out = {0};
    int r = opts->top.report.json ? ml_ranks_json(ranks, &out)
                                  : ml_ranks_text(ranks, (size_t)opts->top.top, &style, &out);
    int status = r < 0 ? ml_report_fail(&(struct ml_error){0}) : ml_report_write(&out);

    ml_buf_release(&out);
    return status;
}

static int report(const struct job *job, const struct ranks_opts *opts)
{
    struct ml_ranks ranks;
    struct ml_error err = {0};
    int status, r = ml_ranks(job->sources.items, job->sources.len, opts->job, &ranks, &err);

    if (r == 0 && opts->plot)
        r = draw(&ranks, opts, &err);
    status = r < 0 ? ml_report_fail(&err) : print(&ranks, opts);
    ml_ranks_release(&ranks);
    return status;
}

static int run(int argc, char **argv)
{
    struct ranks_opts opts = {.top = {.top = 10}};
    struct ml_error err = {0};
    struct job job = {0};
    int first, r = 0, status = ml_verb_begin(&ml_verb_ranks, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (first >= argc)
        return ml_verb_usage_error(&ml_verb_ranks, "name the folder with the traces of the job");
    for (int i = first; r == 0 && i < argc; i++)
        r = ml_rank_files_add(&job.files, argv[i], &err);
    ml_rank_files_join(&job.files);
    if (r == 0)
        r = load(&job, &opts.top.report, &err);
    status = r < 0 ? ml_report_fail(&err) : report(&job, &opts);
    release(&job);
    return status;
}

const struct ml_verb ml_verb_ranks = {
    .name = "ranks",
    .summary = "compare the ranks of a distributed job: outliers and why",
    .usage = "[OPTION]... DIR|FILE...",
    .details = "Traces without a digest are digested first, several at a time; the digest is\n"
               "kept beside the trace.",
    .group = ML_GROUP_COMPARE,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
