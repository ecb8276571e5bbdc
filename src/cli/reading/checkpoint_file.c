/* checkpoint_file.c: see checkpoint_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint_maker.h"
#include "progress_line.h"
#include "pyramid_maker.h"

/* They are made once, after the run, and read often: a strong level is worth its time. */
#define ZSTD_LEVEL 15

/* ---- A file of their own ------------------------------------------------------- */

static int write_checkpoints(const struct ml_trace *trace, double share,
                             struct ml_block_writer *writer)
{
    struct ml_progress_line line;
    struct ml_checkpoint_opts opts = {
        .share = share, .maker = ML_CHECKPOINT_MAKER, .progress = &line.progress};
    struct ml_error err = {0};
    int r;

    ml_progress_line_init(&line, "making checkpoints");
    r = ml_checkpoints_make(trace, &opts, writer, &err);
    ml_progress_line_end(&line);
    return r;
}

/* With the checkpoints in the file so far, which make this several times faster. */
static int write_pyramids(struct ml_trace *trace, const char *path, struct ml_block_writer *writer)
{
    struct ml_progress_line line;
    struct ml_error err = {0};
    struct ml_trace *checkpoints = NULL;
    int r = ml_trace_open(path, &(struct ml_trace_opts){0}, &checkpoints, &err);

    if (r < 0)
        return r;
    ml_trace_attach_checkpoints(trace, checkpoints);
    ml_progress_line_init(&line, "making the timeline");
    r = ml_pyramids_make(trace, &line.progress, writer, &err);
    ml_progress_line_end(&line);
    ml_trace_attach_checkpoints(trace, NULL);
    return r;
}

int ml_checkpoint_file_write(struct ml_trace *trace, const char *path, int fd,
                             const struct ml_checkpoint_file_opts *opts)
{
    struct ml_block_writer writer;
    int r;

    ml_block_writer_open(&writer, fd, ml_trace_info(trace)->start_wall_ns);
    writer.level = ZSTD_LEVEL;
    r = ml_block_writer_setting(&writer, opts->key, opts->value);
    if (r == 0)
        r = write_checkpoints(trace, opts->share, &writer);
    if (r == 0)
        r = write_pyramids(trace, path, &writer);
    if (r == 0)
        r = ml_block_writer_finish(&writer);
    ml_block_writer_release(&writer);
    return r;
}

/* ---- In the trace ----------------------------------------------------------------- */

/* A signal must not end us while the trace has no index. */
static int embed_undisturbed(const struct ml_trace *trace, const struct ml_trace *checkpoints)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    r = ml_trace_embed_checkpoints(trace, checkpoints);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r;
}

static int make_and_embed(struct ml_trace *trace, int fd)
{
    const struct ml_checkpoint_file_opts opts = {.key = "checkpoints", .value = "own"};
    struct ml_trace *checkpoints = NULL;
    char path[32];
    int r;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    r = ml_checkpoint_file_write(trace, path, fd, &opts);
    if (r == 0)
        r = ml_trace_open(path, &(struct ml_trace_opts){0}, &checkpoints, &(struct ml_error){0});
    if (r == 0)
        r = embed_undisturbed(trace, checkpoints);
    ml_trace_free(checkpoints);
    return r;
}

int ml_checkpoint_file_embed(const char *path)
{
    struct ml_trace *trace = NULL;
    int fd, r = ml_trace_open(path, &(struct ml_trace_opts){0}, &trace, &(struct ml_error){0});

    if (r < 0)
        return r;
    fd = memfd_create("checkpoints", MFD_CLOEXEC);
    r = fd < 0 ? -errno : make_and_embed(trace, fd);
    if (fd >= 0)
        close(fd);
    ml_trace_free(trace);
    return r;
}
