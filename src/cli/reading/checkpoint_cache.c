/* checkpoint_cache.c: see checkpoint_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_folder.h"
#include "checkpoint_maker.h"
#include "checkpoints.h"
#include "part_file.h"
#include "part_guard.h"
#include "progress_line.h"
#include "pyramid_maker.h"

#define LONG_EVENTS 2000000 /* a replay of fewer takes a few tenths of a second */
#define SETTING "checkpoints.of"

struct place {
    char path[PATH_MAX];
    char owner[192]; /* the trace and the build that the file belongs to */
};

/* @return 0 or negative errno */
static int find_place(const struct ml_trace *trace, struct place *ret)
{
    struct ml_trace_identity id;
    struct stat self;
    char name[64];
    int r = ml_trace_identify(trace, &id);

    if (r < 0)
        return r;
    if (stat("/proc/self/exe", &self) < 0)
        return -errno;
    snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, id.device, id.inode);
    snprintf(ret->owner, sizeof(ret->owner),
             "%" PRIu64 " bytes, written %" PRIu64 ", %" PRIx64 ", by " MEMLEDGER_VERSION
             " of %" PRId64 ".%ld",
             id.file_bytes, id.changed_ns, id.hash, (int64_t)self.st_mtim.tv_sec,
             self.st_mtim.tv_nsec);
    return ml_cache_path(name, ret->path, sizeof(ret->path));
}

/* Whether the file is whole and was made for the trace by this build. */
static bool is_usable(const struct ml_trace *file, const struct place *place)
{
    const char *owner = ml_trace_setting(file, SETTING);

    return owner && strcmp(owner, place->owner) == 0 && ml_trace_info(file)->has_index &&
           ml_trace_check_blocks(file) == 0;
}

/* @return whether there is such a file */
static bool attach(struct ml_trace *trace, const struct place *place)
{
    struct ml_checkpoints checkpoints;
    struct ml_trace *file = NULL;
    int r;

    if (ml_trace_open(place->path, &(struct ml_trace_opts){0}, &file, NULL) < 0)
        return false;
    if (!is_usable(file, place)) {
        ml_trace_free(file);
        return false;
    }
    ml_trace_attach_checkpoints(trace, file);
    r = ml_checkpoints_open(trace, &checkpoints);
    ml_checkpoints_release(&checkpoints);
    if (r < 0)
        ml_trace_attach_checkpoints(trace, NULL);
    return r == 0;
}

static int write_checkpoints(const struct ml_trace *trace, struct ml_block_writer *writer)
{
    struct ml_progress_line line;
    struct ml_checkpoint_opts opts = {.progress = &line.progress};
    struct ml_error err = {0};
    int r;

    ml_progress_line_init(&line, "making checkpoints");
    r = ml_checkpoints_make(trace, &opts, writer, &err);
    ml_progress_line_end(&line);
    return r;
}

/* With the checkpoints in the file so far, which make this several times faster. */
static int write_pyramids(struct ml_trace *trace, const char *file, struct ml_block_writer *writer)
{
    struct ml_progress_line line;
    struct ml_error err = {0};
    struct ml_trace *checkpoints = NULL;
    int r = ml_trace_open(file, &(struct ml_trace_opts){0}, &checkpoints, &err);

    if (r < 0)
        return r;
    ml_trace_attach_checkpoints(trace, checkpoints);
    ml_progress_line_init(&line, "making the timeline");
    r = ml_pyramids_make(trace, &line.progress, writer, &err);
    ml_progress_line_end(&line);
    ml_trace_attach_checkpoints(trace, NULL);
    return r;
}

static int write_file(struct ml_trace *trace, const struct place *place, const char *file, int fd)
{
    struct ml_block_writer writer;
    int r;

    ml_block_writer_open(&writer, fd, ml_trace_info(trace)->start_wall_ns);
    r = ml_block_writer_setting(&writer, SETTING, place->owner);
    if (r == 0)
        r = write_checkpoints(trace, &writer);
    if (r == 0)
        r = write_pyramids(trace, file, &writer);
    if (r == 0)
        r = ml_block_writer_finish(&writer);
    ml_block_writer_release(&writer);
    return r;
}

static int make(struct ml_trace *trace, const struct place *place)
{
    char *part = NULL;
    int fd, r;

    ml_part_hold(place->path);
    fd = ml_part_make(place->path, &part);
    ml_part_guard(part);
    if (fd < 0)
        return fd;
    r = write_file(trace, place, part, fd);
    close(fd);
    if (r == 0)
        r = ml_part_place(part, place->path, true);
    if (r < 0)
        unlink(part);
    ml_part_guard(NULL);
    free(part);
    return r;
}

/* A trace that grows would need new ones each time; a damaged one must be reported as such. */
static bool can_have(const struct ml_trace *trace)
{
    const struct ml_trace_info *info = ml_trace_info(trace);

    return !info->being_written && info->damaged_blocks == 0;
}

void ml_checkpoint_cache_attach(struct ml_trace *trace, enum ml_checkpoint_use use)
{
    struct place place;

    if (use == ML_CHECKPOINTS_NEVER || !can_have(trace) ||
        (use == ML_CHECKPOINTS_AUTO && ml_trace_info(trace)->events < LONG_EVENTS) ||
        find_place(trace, &place) < 0)
        return;
    if (!attach(trace, &place) && make(trace, &place) == 0 && attach(trace, &place))
        ml_cache_trim(place.path);
}
