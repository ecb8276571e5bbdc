/* snapshot.c: see snapshot.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "snapshot.h"

#include <errno.h>
#include <string.h>

#include "checkpoint_walk.h"
#include "classify.h"
#include "narrow.h"

static const char *copy_setting(const struct ml_trace *trace, const char *key,
                                struct ml_arena *arena)
{
    const char *value = ml_trace_setting(trace, key);

    return value ? ml_arena_dup(arena, value, strlen(value)) : NULL;
}

static int name_device(const struct ml_replay *replay, struct ml_snapshot *ret)
{
    size_t len;
    const char *name;

    if (ret->device_index < 0)
        return 0;
    name = ml_intern_get(&replay->device_names, (uint32_t)ret->device_index, &len);
    ret->device = ml_arena_dup(&ret->arena, name, len);
    return ret->device ? 0 : -ENOMEM;
}

static void count(const struct ml_replay *replay, struct ml_snapshot *ret)
{
    int64_t files = ml_intern_find(&replay->device_names, ML_FILES_DEVICE, strlen(ML_FILES_DEVICE));
    const struct ml_block *block;
    size_t cursor = 0;

    while ((block = ml_snapshot_next(ret, replay, &cursor))) {
        ret->bytes += block->size;
        ret->blocks += ml_replay_count(replay, block);
        if (replay->spaces.items[block->space].device == files)
            ret->file_bytes += block->size;
    }
}

/* A live table without events, restricted to the device. */
static int begin_table(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                       struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err)
{
    int r = ml_replay_init_capped(ret_replay, trace, opts->caps);

    if (r == 0)
        r = ml_instant_device(ret_replay, opts->device, &ret->device_index, err);
    return r < 0 ? r : name_device(ret_replay, ret);
}

/* Reads on to the instant. */
static int freeze(const struct ml_classes *classes, struct ml_snapshot *ret,
                  struct ml_replay *ret_replay, struct ml_error *err)
{
    int r;

    ml_replay_classify(ret_replay, classes);
    r = ml_replay_instant(ret_replay, ret->instant.event, ret->instant.last_label_event, err);
    ml_replay_classify(ret_replay, NULL); /* the replay outlives them */
    if (r == 0)
        count(ret_replay, ret);
    return r;
}

static int freeze_from_start(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                             struct ml_snapshot *ret, struct ml_replay *ret_replay,
                             struct ml_error *err)
{
    struct ml_classes classes;
    int r = ml_classify(trace, &classes, err);

    if (r == 0)
        r = begin_table(trace, opts, ret, ret_replay, err);
    if (r == 0)
        r = freeze(&classes, ret, ret_replay, err);
    ml_classes_release(&classes);
    return r;
}

/* @return 0; -ENOENT if there is no checkpoint that can be used, and nothing has changed; or
 *         another negative errno */
static int freeze_from_checkpoint(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                                  struct ml_snapshot *ret, struct ml_replay *ret_replay,
                                  struct ml_error *err)
{
    struct ml_checkpoints checkpoints;
    struct ml_classes classes = {0};
    int r = ml_checkpoints_open(trace, &checkpoints);

    if (r == 0)
        r = begin_table(trace, opts, ret, ret_replay, err);
    if (r == 0)
        r = ml_checkpoint_restore(&checkpoints,
                                  ml_checkpoint_before_event(&checkpoints, ret->instant.event),
                                  ret_replay, &classes);
    if (r == -EBADMSG)
        r = -ENOENT;
    if (r == -ENOENT)
        ml_replay_release(ret_replay);
    if (r == 0)
        r = freeze(&classes, ret, ret_replay, err);
    ml_classes_release(&classes);
    ml_checkpoints_release(&checkpoints);
    return r;
}

/* An outline knows the labels up to the instant, not later ones.
 * @return as freeze_from_checkpoint */
static int freeze_from_outline(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                               struct ml_snapshot *ret, struct ml_replay *ret_replay,
                               struct ml_error *err)
{
    uint64_t event = ret->instant.event;
    const struct ml_outline *outline = NULL;
    struct ml_checkpoint_walk walk = {0};
    struct ml_checkpoints checkpoints;
    int r = ml_checkpoints_open(trace, &checkpoints);

    if (r == 0 && ret->instant.last_label_event <= event)
        outline = ml_outline_before_event(&checkpoints, event);
    if (r == 0 && !outline)
        r = -ENOENT;
    if (r == 0)
        r = begin_table(trace, opts, ret, ret_replay, err);
    if (r == 0)
        r = ml_checkpoint_walk_begin_outlined(&walk, &checkpoints, outline, ret_replay);
    if (r == 0)
        r = ml_checkpoint_walk_to(&walk, event, err);
    ml_checkpoint_walk_release(&walk);
    if (r == -EBADMSG)
        r = -ENOENT;
    if (r == -ENOENT)
        ml_replay_release(ret_replay);
    if (r == 0)
        count(ret_replay, ret);
    ml_checkpoints_release(&checkpoints);
    return r;
}

void ml_snapshot_begin(const struct ml_trace *trace, struct ml_snapshot *ret)
{
    *ret = (struct ml_snapshot){.start_wall_ns = ml_trace_info(trace)->start_wall_ns,
                                .device_index = -1};
    ret->command = copy_setting(trace, "command", &ret->arena);
    ret->host = copy_setting(trace, "host", &ret->arena);
}

int ml_snapshot_choose_process(struct ml_snapshot *snapshot, const struct ml_trace *trace,
                               uint32_t pid, struct ml_error *err)
{
    snapshot->pid = pid;
    return ml_check_process(trace, pid, err);
}

static int take(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, bool sums,
                struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err)
{
    int r;

    ml_snapshot_begin(trace, ret);
    *ret_replay = (struct ml_replay){0};
    r = ml_snapshot_choose_process(ret, trace, opts->pid, err);
    if (r == 0)
        r = ml_instant_find_capped(trace, &opts->at, opts->device, opts->caps, &ret->instant, err);
    if (r < 0)
        return r;
    r = sums && !opts->caps ? freeze_from_outline(trace, opts, ret, ret_replay, err) : -ENOENT;
    if (r == -ENOENT && !opts->caps)
        r = freeze_from_checkpoint(trace, opts, ret, ret_replay, err);
    if (r == -ENOENT)
        r = freeze_from_start(trace, opts, ret, ret_replay, err);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}

int ml_snapshot(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err)
{
    return take(trace, opts, false, ret, ret_replay, err);
}

int ml_snapshot_sums(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                     struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err)
{
    return take(trace, opts, true, ret, ret_replay, err);
}

int ml_snapshot_narrow(struct ml_snapshot *snapshot, const struct ml_replay *replay,
                       const char *device)
{
    int64_t index = ml_intern_find(&replay->device_names, device, strlen(device));

    snapshot->device = ml_arena_dup(&snapshot->arena, device, strlen(device));
    if (!snapshot->device)
        return -ENOMEM;
    snapshot->device_index = index < 0 ? ML_NOWHERE : index;
    snapshot->bytes = snapshot->blocks = snapshot->file_bytes = 0;
    count(replay, snapshot);
    return 0;
}

void ml_snapshot_release(struct ml_snapshot *snapshot)
{
    ml_arena_release(&snapshot->arena);
    *snapshot = (struct ml_snapshot){0};
}

bool ml_snapshot_has(const struct ml_snapshot *snapshot, const struct ml_replay *replay,
                     const struct ml_block *block)
{
    const struct ml_replay_space *space = &replay->spaces.items[block->space];
    uint32_t process;

    if (snapshot->device_index >= 0 && space->device != snapshot->device_index)
        return false;
    if (snapshot->pid == 0)
        return true;
    process = ml_trace_space(replay->trace, space->number)->process;
    return ml_trace_process(replay->trace, process)->pid == snapshot->pid;
}

const struct ml_block *ml_snapshot_next(const struct ml_snapshot *snapshot,
                                        const struct ml_replay *replay, size_t *cursor)
{
    const struct ml_block *block;

    while ((block = ml_replay_next(replay, false, cursor)))
        if (ml_snapshot_has(snapshot, replay, block))
            return block;
    return NULL;
}

double ml_snapshot_percent(const struct ml_snapshot *snapshot, uint64_t bytes)
{
    return snapshot->bytes ? 100.0 * (double)bytes / (double)snapshot->bytes : 0;
}
