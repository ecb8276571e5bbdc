/* band_reader.c: see band_reader.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "band_reader.h"

#include <errno.h>
#include <string.h>

#include "classify.h"
#include "event_names.h"

_Static_assert(ML_CATEGORIES <= ML_BANDS_MAX, "a band for each category");

static bool wants(const struct ml_band_reader *reader, enum ml_bands_by by)
{
    return reader->wanted >> by & 1;
}

static bool has_checkpoints(const struct ml_band_reader *reader)
{
    return reader->checkpoints.list.len > 0;
}

/* ---- Before the replay ---------------------------------------------------- */

static int find_end(struct ml_band_reader *reader, struct ml_error *err)
{
    int r = ml_totals_at_end(reader->trace, &reader->end, err);

    reader->has_end = r == 0;
    return r;
}

/* @return 0, or negative errno if the trace must be read from its start */
static int open_checkpoints(struct ml_band_reader *reader, struct ml_error *err)
{
    int r = ml_checkpoints_open(reader->trace, &reader->checkpoints);

    if (r == 0)
        r = find_end(reader, err);
    else
        ml_checkpoints_release(&reader->checkpoints);
    return r;
}

int ml_band_reader_begin(struct ml_band_reader *reader, const struct ml_trace *trace,
                         const struct ml_level_caps *caps, unsigned wanted, bool from_start,
                         struct ml_error *err)
{
    int r = 0;

    *reader = (struct ml_band_reader){.trace = trace, .caps = caps, .wanted = wanted};
    if (from_start || (caps && caps->list.len > 0) || open_checkpoints(reader, err) < 0) {
        r = ml_classify(trace, &reader->classes, err);
        if (r == 0 && wants(reader, ML_BANDS_PROCESS))
            r = find_end(reader, err);
    }
    if (r == 0 && wants(reader, ML_BANDS_PROCESS))
        r = ml_band_processes_init(&reader->processes, &reader->end);
    return r;
}

void ml_band_reader_release(struct ml_band_reader *reader)
{
    ml_checkpoint_walk_release(&reader->walk);
    ml_band_modules_release(&reader->modules);
    ml_band_processes_release(&reader->processes);
    ml_replay_release(&reader->replay);
    ml_replay_release(&reader->end);
    ml_classes_release(&reader->classes);
    ml_checkpoints_release(&reader->checkpoints);
}

/* ---- Bands at present -------------------------------------------------------- */

static void compose_devices(const struct ml_replay *replay, uint64_t ret[ML_BANDS_MAX])
{
    for (size_t i = 0; i < replay->devices.len; i++)
        ret[i < ML_BANDS_MAX ? i : ML_BANDS_MAX - 1] += replay->devices.items[i].bytes.live_bytes;
}

static void compose(void *ctx, struct ml_band_composition *ret)
{
    const struct ml_band_reader *reader = ctx;
    const struct ml_replay *replay = &reader->replay;

    *ret = (struct ml_band_composition){0};
    if (wants(reader, ML_BANDS_CATEGORY))
        for (size_t i = 0; i < ML_CATEGORIES; i++)
            ret->by[ML_BANDS_CATEGORY].bytes[i] = replay->categories[i].bytes.live_bytes;
    if (wants(reader, ML_BANDS_MODULE))
        memcpy(ret->by[ML_BANDS_MODULE].bytes, reader->modules.bytes,
               sizeof(reader->modules.bytes));
    if (wants(reader, ML_BANDS_DEVICE))
        compose_devices(replay, ret->by[ML_BANDS_DEVICE].bytes);
    if (wants(reader, ML_BANDS_PROCESS))
        memcpy(ret->by[ML_BANDS_PROCESS].bytes, reader->processes.bytes,
               sizeof(reader->processes.bytes));
}

static void on_bytes(void *ctx, const struct ml_block *block, uint64_t change)
{
    struct ml_band_reader *reader = ctx;

    if (wants(reader, ML_BANDS_MODULE))
        ml_band_modules_add(&reader->modules, block, change);
    if (wants(reader, ML_BANDS_PROCESS))
        ml_band_processes_add(&reader->processes, reader->replay.spaces.items[block->space].process,
                              change);
}

/* Bands of modules and processes, which the live table does not have. */
static int follow_bytes(struct ml_band_reader *reader, struct ml_error *err)
{
    int r = 0;

    if (wants(reader, ML_BANDS_MODULE))
        r = ml_band_modules_init(&reader->modules, &reader->replay, reader->module_depth, err);
    if (wants(reader, ML_BANDS_PROCESS))
        ml_band_processes_count(&reader->processes, &reader->replay);
    if (wants(reader, ML_BANDS_MODULE) || wants(reader, ML_BANDS_PROCESS))
        reader->replay.on_bytes = on_bytes;
    reader->replay.ctx = reader;
    return r;
}

/* ---- The replay ----------------------------------------------------------------- */

/* The event of a checkpoint may be the first of several at its time, so one before is taken. */
static int start_at_checkpoint(struct ml_band_reader *reader, uint64_t from_ns)
{
    const struct ml_checkpoint *from =
        ml_checkpoint_before_time(&reader->checkpoints, from_ns > 0 ? from_ns - 1 : 0);
    const struct ml_outline *outline =
        from_ns > 0 ? ml_outline_before_time(&reader->checkpoints, from_ns - 1) : NULL;
    int r = ml_replay_init(&reader->replay, reader->trace);

    if (from_ns == 0)
        from = reader->checkpoints.list.items;
    if (r == 0 && outline)
        r = ml_checkpoint_walk_begin_outlined(&reader->walk, &reader->checkpoints, outline,
                                              &reader->replay);
    else if (r == 0)
        r = ml_checkpoint_walk_begin(&reader->walk, &reader->checkpoints, from, &reader->replay);
    if (r == 0 && reader->caps && (reader->caps->only_device || reader->caps->only_pid))
        ml_replay_narrow(&reader->replay, reader->caps->only_device, reader->caps->only_pid);
    return r;
}

static int start_at_begin(struct ml_band_reader *reader)
{
    int r = ml_replay_init_capped(&reader->replay, reader->trace, reader->caps);

    reader->walk = (struct ml_checkpoint_walk){.replay = &reader->replay, .next_event = UINT64_MAX};
    ml_replay_classify(&reader->replay, &reader->classes);
    return r;
}

static int add_event(struct ml_band_reader *reader, const struct ml_event *event)
{
    int r = ml_checkpoint_walk_on(&reader->walk, event);

    if (!ml_replay_may_change(&reader->replay, event))
        return r < 0 ? r : ml_replay_feed(&reader->replay, event);
    if (r == 0)
        r = ml_picker_leave(&reader->picker, event->time_ns);
    if (r == 0)
        r = ml_replay_feed(&reader->replay, event);
    ml_picker_enter(&reader->picker, event->time_ns, reader->replay.bytes.live_bytes);
    return r < 0 ? r : reader->modules.error;
}

/* Without the totals at the end, the whole trace must be read for its health. */
static bool is_done(const struct ml_band_reader *reader)
{
    return reader->picker.ended && reader->has_end;
}

static int read_events(struct ml_band_reader *reader, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(reader->trace, 0, UINT64_MAX, &cursor, err);

    if (r == 0)
        ml_cursor_skip(cursor, reader->replay.events);
    while (r == 0 && !is_done(reader) && (n = ml_cursor_next(cursor, &events, err)) > 0)
        for (int i = 0; r == 0 && i < n && !is_done(reader); i++) {
            ml_replay_prefetch(&reader->replay, events, (size_t)i, (size_t)n);
            r = add_event(reader, &events[i]);
        }
    ml_cursor_free(cursor);
    return r < 0 || n > 0 ? r : n;
}

int ml_band_reader_read(struct ml_band_reader *reader, const struct ml_columns *columns,
                        int (*emit)(void *ctx, const struct ml_band_column *column), void *ctx,
                        struct ml_error *err)
{
    int r;

    reader->picker = (struct ml_column_picker){
        .columns = *columns, .compose = compose, .emit = emit, .ctx = reader, .emit_ctx = ctx};
    ml_picker_begin(&reader->picker);
    if (has_checkpoints(reader))
        r = start_at_checkpoint(reader, reader->picker.from_ns);
    else
        r = start_at_begin(reader);
    if (r == 0)
        r = follow_bytes(reader, err);
    ml_picker_enter(&reader->picker, 0, reader->replay.bytes.live_bytes);
    if (r == 0)
        r = read_events(reader, err);
    return r < 0 ? r : ml_picker_end(&reader->picker, ml_trace_info(reader->trace)->end_ns);
}

/* ---- Names ------------------------------------------------------------------------ */

/* The live table that has seen all events. */
static const struct ml_replay *last_of(const struct ml_band_reader *reader)
{
    return reader->has_end ? &reader->end : &reader->replay;
}

static int name_devices(const struct ml_replay *end, struct ml_bands *ret)
{
    ret->count = end->devices.len < ML_BANDS_MAX ? end->devices.len : ML_BANDS_MAX;
    for (size_t i = 0; i < ret->count; i++) {
        size_t len;
        const char *name = ml_intern_get(&end->device_names, (uint32_t)i, &len);

        ret->list[i].name = ml_arena_dup(&ret->arena, name, len);
        if (!ret->list[i].name)
            return -ENOMEM;
    }
    if (end->devices.len > ML_BANDS_MAX)
        ret->list[ML_BANDS_MAX - 1].rest = true;
    return 0;
}

int ml_band_reader_name(const struct ml_band_reader *reader, enum ml_bands_by by,
                        struct ml_bands *ret)
{
    switch (by) {
    case ML_BANDS_DEVICE: return name_devices(last_of(reader), ret);
    case ML_BANDS_MODULE: return ml_band_modules_name(&reader->modules, ret);
    case ML_BANDS_PROCESS: return ml_band_processes_name(&reader->processes, last_of(reader), ret);
    default: break;
    }
    ret->count = ML_CATEGORIES;
    for (size_t i = 0; i < ret->count; i++)
        ret->list[i].name = ml_category_name(i);
    return 0;
}

struct ml_health ml_band_reader_health(const struct ml_band_reader *reader)
{
    return ml_health_of(last_of(reader));
}
