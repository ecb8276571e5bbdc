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
#include "checkpoint_file.h"
#include "checkpoints.h"
#include "part_file.h"
#include "part_guard.h"

#define SETTING "checkpoints.of"
#define SHARE 0.2 /* of the trace's bytes */

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
           ml_trace_check_blocks(file, 0) == 0;
}

/* @return whether the trace can use them */
static bool attach_file(struct ml_trace *trace, struct ml_trace *file, const char *maker)
{
    struct ml_checkpoints checkpoints;
    bool usable;

    ml_trace_attach_checkpoints(trace, file);
    usable = ml_checkpoints_open(trace, &checkpoints) == 0 &&
             checkpoints.last.event == ml_trace_info(trace)->events &&
             (!maker || ml_checkpoints_made_by(&checkpoints, maker));
    ml_checkpoints_release(&checkpoints);
    if (!usable)
        ml_trace_attach_checkpoints(trace, NULL);
    return usable;
}

/* @return whether there is such a file */
static bool attach(struct ml_trace *trace, const struct place *place)
{
    struct ml_trace *file = NULL;

    if (ml_trace_open(place->path, &(struct ml_trace_opts){0}, &file, NULL) < 0)
        return false;
    if (!is_usable(file, place)) {
        ml_trace_free(file);
        return false;
    }
    return attach_file(trace, file, NULL);
}

/* Those that were recorded with the trace, unless another version would find other categories. */
static bool attach_own(struct ml_trace *trace)
{
    struct ml_trace *own = NULL;

    return ml_trace_own_checkpoints(trace, &own) == 0 &&
           attach_file(trace, own, ML_CHECKPOINT_MAKER);
}

static int make(struct ml_trace *trace, const struct place *place)
{
    const struct ml_checkpoint_file_opts opts = {
        .share = SHARE, .key = SETTING, .value = place->owner};
    char *part = NULL;
    int fd, r;

    ml_part_hold(place->path);
    fd = ml_part_make(place->path, &part);
    ml_part_guard(part);
    if (fd < 0)
        return fd;
    r = ml_checkpoint_file_write(trace, part, fd, &opts);
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

    if (use == ML_CHECKPOINTS_NEVER || !can_have(trace))
        return;
    if (use != ML_CHECKPOINTS_ALWAYS &&
        (attach_own(trace) || ml_trace_info(trace)->events < ML_CHECKPOINT_EVENTS))
        return;
    if (find_place(trace, &place) < 0 || attach(trace, &place) || use == ML_CHECKPOINTS_FOUND)
        return;
    if (make(trace, &place) == 0 && attach(trace, &place))
        ml_cache_trim(place.path);
}
