/* bands.c: see bands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bands.h"

#include <errno.h>
#include <string.h>

#include "band_modules.h"
#include "classify.h"
#include "each_event.h"
#include "event_names.h"
#include "timeline_build.h"

struct reader {
    struct ml_replay replay;
    struct ml_classes classes;
    struct ml_timeline_builder builder;
    struct ml_band_modules modules;
    struct ml_bands *ret;
    uint64_t total;                         /* at present */
    uint64_t lowest, highest;               /* of the bucket so far … */
    struct ml_bands_moment at_low, at_high; /* … and their composition */
    bool low_first;
    uint64_t peak_bytes; /* of the run so far */
};

_Static_assert(ML_CATEGORIES <= ML_BANDS_MAX, "a band for each category");

/* ---- Moments ----------------------------------------------------------- */

static struct ml_bands_moment compose(const struct reader *reader)
{
    const struct ml_replay *replay = &reader->replay;
    struct ml_bands_moment now = {0};

    switch (reader->ret->by) {
    case ML_BANDS_CATEGORY:
        for (size_t i = 0; i < ML_CATEGORIES; i++)
            now.bytes[i] = replay->categories[i].bytes.live_bytes;
        break;
    case ML_BANDS_DEVICE:
        for (size_t i = 0; i < replay->devices.len; i++)
            now.bytes[i < ML_BANDS_MAX ? i : ML_BANDS_MAX - 1] +=
                replay->devices.items[i].bytes.live_bytes;
        break;
    case ML_BANDS_MODULE: ml_band_modules_bytes(&reader->modules, reader->total, now.bytes); break;
    }
    return now;
}

static void note_peaks(struct reader *reader, const struct ml_bands_moment *now)
{
    bool highest = reader->total > reader->peak_bytes;

    for (size_t i = 0; i < ML_BANDS_MAX; i++) {
        struct ml_band *band = &reader->ret->list[i];

        band->peak_bytes = ml_max_u64(band->peak_bytes, now->bytes[i]);
        if (highest)
            band->share_bytes = now->bytes[i];
    }
    if (highest)
        reader->peak_bytes = reader->total;
}

/* The total is about to change, or the bucket to end. The bands are read only now, because labels
 * that follow an allocation have then arrived. */
static void settle(struct reader *reader)
{
    struct ml_bands_moment now;

    if (reader->builder.before)
        return;
    if (reader->total >= reader->lowest && reader->total <= reader->highest)
        return;
    now = compose(reader);
    note_peaks(reader, &now);
    if (reader->total < reader->lowest) {
        reader->lowest = reader->total;
        reader->at_low = now;
        reader->low_first = false;
    } else {
        reader->highest = reader->total;
        reader->at_high = now;
        reader->low_first = true;
    }
}

static void begin_bucket(struct reader *reader)
{
    reader->lowest = reader->highest = reader->total;
    reader->at_low = reader->at_high = compose(reader);
    reader->low_first = true;
    if (!reader->builder.before)
        note_peaks(reader, &reader->at_low);
}

static int end_bucket(struct reader *reader)
{
    struct ml_bands_moment first = reader->low_first ? reader->at_low : reader->at_high;
    struct ml_bands_moment second = reader->low_first ? reader->at_high : reader->at_low;

    if (ml_vec_push(&reader->ret->moments, first) < 0 ||
        ml_vec_push(&reader->ret->moments, second) < 0)
        return -ENOMEM;
    return 0;
}

/* Whether a bucket ends before that time. The last one ends with the window and includes events
 * at its very end, such as a label after the last allocation. */
static bool ends_bucket(const struct ml_timeline_builder *b, uint64_t time_ns)
{
    bool is_last = b->timeline->buckets.len + 1 >= b->count;

    return is_last ? time_ns > b->end_ns : time_ns >= b->next_edge_ns;
}

/* Ends as many buckets as the timeline of the total has ended. */
static int advance(struct reader *reader, uint64_t time_ns)
{
    size_t before = reader->ret->total.buckets.len;
    int r;

    if (reader->builder.before && time_ns >= reader->ret->total.from_ns) {
        reader->builder.before = false;
        begin_bucket(reader);
    }
    if (ends_bucket(&reader->builder, time_ns))
        settle(reader);
    r = ml_timeline_advance(&reader->builder, time_ns);
    for (size_t i = before; r == 0 && i < reader->ret->total.buckets.len; i++) {
        r = end_bucket(reader);
        begin_bucket(reader);
    }
    return r;
}

/* ---- Reading ----------------------------------------------------------- */

static int add_event(void *ctx, const struct ml_event *event)
{
    struct reader *reader = ctx;
    int r = advance(reader, event->time_ns);

    if (ml_changes_total(event))
        settle(reader);
    if (r == 0)
        r = ml_replay_feed(&reader->replay, event);
    if (!reader->builder.past) {
        reader->total = reader->replay.bytes.live_bytes;
        ml_timeline_set(&reader->builder, reader->total);
    }
    return r < 0 ? r : reader->modules.error;
}

static int read_events(struct reader *reader, struct ml_error *err)
{
    int r = ml_each_event(reader->replay.trace, add_event, reader, err);

    settle(reader);
    if (r == 0)
        r = end_bucket(reader);
    return r < 0 ? r : ml_timeline_end(&reader->builder);
}

/* ---- Names ------------------------------------------------------------- */

static int name_devices(const struct ml_replay *replay, struct ml_bands *ret)
{
    ret->count = replay->devices.len < ML_BANDS_MAX ? replay->devices.len : ML_BANDS_MAX;
    for (size_t i = 0; i < ret->count; i++) {
        size_t len;
        const char *name = ml_intern_get(&replay->device_names, (uint32_t)i, &len);

        ret->list[i].name = ml_arena_dup(&ret->arena, name, len);
        if (!ret->list[i].name)
            return -ENOMEM;
    }
    if (replay->devices.len > ML_BANDS_MAX)
        ret->list[ML_BANDS_MAX - 1].rest = true;
    return 0;
}

static int name_bands(struct reader *reader)
{
    struct ml_bands *ret = reader->ret;

    switch (ret->by) {
    case ML_BANDS_DEVICE: return name_devices(&reader->replay, ret);
    case ML_BANDS_MODULE: return ml_band_modules_name(&reader->modules, ret);
    case ML_BANDS_CATEGORY: break;
    }
    ret->count = ML_CATEGORIES;
    for (size_t i = 0; i < ret->count; i++)
        ret->list[i].name = ml_category_name(i);
    return 0;
}

/* ---- The analysis ------------------------------------------------------ */

static int prepare(struct reader *reader, const struct ml_trace *trace,
                   const struct ml_timeline_opts *opts, struct ml_error *err)
{
    int r = ml_replay_init_capped(&reader->replay, trace, opts->caps);

    ml_timeline_begin(&reader->builder, trace, opts, &reader->ret->total);
    if (r == 0)
        r = ml_classify(trace, &reader->classes, err);
    if (r == 0)
        ml_replay_classify(&reader->replay, &reader->classes);
    if (r == 0 && reader->ret->by == ML_BANDS_MODULE)
        r = ml_band_modules_init(&reader->modules, &reader->replay, err);
    begin_bucket(reader);
    return r;
}

int ml_bands(const struct ml_trace *trace, enum ml_bands_by by, const struct ml_timeline_opts *opts,
             struct ml_bands *ret, struct ml_error *err)
{
    struct reader reader = {.ret = ret};
    int r;

    *ret = (struct ml_bands){.by = by};
    r = prepare(&reader, trace, opts, err);
    if (r == 0)
        r = read_events(&reader, err);
    if (r == 0) {
        ret->total.health = ml_health_of(&reader.replay);
        r = name_bands(&reader);
    }
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_band_modules_release(&reader.modules);
    ml_replay_release(&reader.replay);
    ml_classes_release(&reader.classes);
    return r;
}

void ml_bands_release(struct ml_bands *bands)
{
    ml_arena_release(&bands->arena);
    ml_timeline_release(&bands->total);
    ml_vec_release(&bands->moments);
    *bands = (struct ml_bands){0};
}
