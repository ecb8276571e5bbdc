/* checkpoint_maker.c: see checkpoint_maker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_maker.h"

#include <errno.h>

#include "checkpoint_directory.h"
#include "checkpoint_tags.h"
#include "checkpoints.h"
#include "classify.h"
#include "landmarks.h"
#include "leftovers.h"
#include "named_instants.h"
#include "number_rows.h"
#include "outline_maker.h"
#include "replay_state.h"

#define EVERY_EVENTS 100000
#define ENTRY_BYTES 2 /* of a block in a checkpoint, if not known better … */
#define HEAP_BYTES 8  /* … in a trace of malloc, whose blocks resemble each other less */

/* Of the trace's bytes, all sections together; and what pyramids need of that. */
#define SHARE 0.047
#define PYRAMID_SHARE 0.012
#define HEAP_PYRAMID_SHARE 0.004 /* events of malloc are larger, and have few bands */
#define LANDMARK_BYTES 2         /* of one that is not written yet */
#define STEP_BYTES 4             /* the same */

/* Differences may add up to this before a checkpoint has all blocks again: reading them takes less
 * than a millisecond. */
#define CHAIN_BYTES 16384

#define OUTLINE_EVENTS 250000 /* at least, between two outlines */
#define OUTLINE_BLOCKS 30000  /* with fewer, checkpoints are small enough */
#define OUTLINE_SHARE 0.75    /* of the bytes for both, where there are many blocks */

struct maker {
    const struct ml_trace *trace;
    const struct ml_checkpoint_opts *opts;
    struct ml_block_writer *out;
    struct ml_replay replay;
    struct ml_classes classes;
    struct ml_named_instants named;
    struct ml_landmark_writer landmarks, samples, segments;
    bool has_segments;         /* the trace may have some */
    ml_block_pool before;      /* at the last checkpoint */
    struct ml_moment last;     /* event that was fed */
    struct ml_moment last_end; /* see struct ml_checkpoints */
    struct ml_buf bytes;
    struct ml_outline_maker outlines;
    ML_VEC(struct ml_outline) outline_list;
    uint64_t outline_event;              /* of the last outline */
    uint64_t outline_raw, outline_bytes; /* of all outlines, before compression and after */
    ML_VEC(struct ml_checkpoint) list;
    uint64_t last_event;                 /* of the last checkpoint */
    uint64_t taken_bytes;                /* of all */
    uint64_t whole_bytes, whole_entries; /* of the last whole one */
    uint64_t since_bytes;                /* of those after it */
    uint64_t difference_bytes;           /* of the last one that is not whole */
    uint64_t begin_offset;               /* of the file, where the sections begin */
    uint64_t first_ordinal;              /* of the stretch since the last one */
    size_t first_label;
};

/* ---- Progress ------------------------------------------------------------------- */

/* Of one of the two passes, as a part of both. */
struct pass {
    struct ml_progress progress; /* first: the pass gets a pointer to it */
    struct ml_progress *whole;   /* NULL: not wanted */
    uint64_t before;             /* passes */
};

static void tell_part(struct ml_progress *progress, uint64_t done, uint64_t total)
{
    const struct pass *pass = (const struct pass *)progress;

    ml_progress_tell(pass->whole, pass->before * total + done, 2 * total);
}

/* ---- The stretch between two checkpoints -------------------------------------- */

static int put_labels(struct maker *m, uint64_t end_ordinal)
{
    ml_numbers numbers = {0};
    uint64_t before = m->first_ordinal;
    int r = 0;

    while (r == 0 && m->first_label < m->classes.labels.len &&
           m->classes.labels.items[m->first_label].ordinal < end_ordinal) {
        const struct ml_class_label *label = &m->classes.labels.items[m->first_label++];

        r = ml_vec_push(&numbers, label->ordinal - before);
        before = label->ordinal;
        if (r == 0)
            r = ml_vec_push(&numbers, label->label);
    }
    if (r == 0)
        r = ml_rows_put(&m->bytes, ML_CLASSES_LABELS, &numbers, 2);
    ml_vec_release(&numbers);
    return r;
}

/* Writes the categories of the allocations since the last checkpoint. */
static int end_stretch(struct maker *m)
{
    uint64_t end = ml_min_u64(m->replay.ordinal, m->classes.categories.len);
    int r;

    if (!m->classes.known || m->list.len == 0)
        return 0;
    m->list.items[m->list.len - 1].classes = ml_block_writer_next(m->out);
    ml_buf_clear(&m->bytes);
    r = ml_record_put(&m->bytes, ML_CLASSES_CATEGORIES,
                      m->classes.categories.items + m->first_ordinal, end - m->first_ordinal);
    if (r == 0)
        r = put_labels(m, end);
    if (r == 0)
        r = ml_block_writer_section(m->out, ML_BLOCK_CLASSES, m->last.time_ns, m->bytes.data,
                                    m->bytes.len);
    m->first_ordinal = end;
    return r;
}

/* ---- A checkpoint --------------------------------------------------------------- */

/* Bytes of the trace up to now, of which the checkpoints may have a share. */
static double bytes_read(const struct maker *m)
{
    const struct ml_trace_info *info = ml_trace_info(m->trace);

    return (double)info->event_bytes * (double)m->replay.events / (double)info->events;
}

/* What a checkpoint of all blocks would take. */
static double whole_now(const struct maker *m)
{
    double least = m->classes.known ? ENTRY_BYTES : HEAP_BYTES;
    double each = m->whole_entries > 0 ? (double)m->whole_bytes / (double)m->whole_entries : 0;

    return (each > least ? each : least) * (double)m->replay.blocks.len;
}

static bool is_next_whole(const struct maker *m)
{
    return m->list.len == 0 || m->since_bytes >= ml_max_u64(m->whole_bytes, CHAIN_BYTES);
}

static double next_bytes(const struct maker *m)
{
    return is_next_whole(m) || m->difference_bytes == 0 ? whole_now(m)
                                                        : (double)m->difference_bytes;
}

/* Landmarks, samples, segments and steps, written or not. */
static double bytes_of_others(const struct maker *m)
{
    uint64_t written = m->out->offset - m->begin_offset - m->taken_bytes - m->outline_bytes;
    uint64_t waiting =
        m->landmarks.encoder->events + m->samples.encoder->events + m->segments.encoder->events;

    return (double)(written + LANDMARK_BYTES * waiting + STEP_BYTES * m->named.steps.len);
}

/* For checkpoints and outlines of the trace up to now. */
static double room_of(const struct maker *m)
{
    double share = m->opts->share > 0 ? m->opts->share : SHARE;
    double pyramid = m->classes.known ? PYRAMID_SHARE : HEAP_PYRAMID_SHARE;

    return (share - pyramid) * bytes_read(m) - bytes_of_others(m);
}

/* Outlines of tables with many blocks have the larger part of the bytes: most questions need no
 * single blocks. */
static bool can_outline(const struct maker *m)
{
    return !m->classes.known && m->replay.blocks.len >= OUTLINE_BLOCKS && m->outlines.is_plain;
}

/* Looking for differences takes time, so a large table makes checkpoints rarer, too. */
static bool is_due(const struct maker *m)
{
    uint64_t every = m->opts->every_events, since = m->replay.events - m->last_event;
    double part = can_outline(m) ? 1 - OUTLINE_SHARE : 1;

    if (every > 0)
        return since >= every;
    if (since < ml_max_u64(EVERY_EVENTS, m->replay.blocks.len))
        return false;
    return (double)m->taken_bytes + next_bytes(m) <= part * room_of(m);
}

/* At the same place of a step fewest entries differ, and most of them are in the same order. So a
 * checkpoint waits for the next step, but not long. */
static bool is_overdue(const struct maker *m)
{
    bool waits = m->opts->every_events == 0 && m->named.track.count > 0 &&
                 m->replay.events - m->last_event < 2 * EVERY_EVENTS;

    return !waits && is_due(m);
}

static int put_state(struct maker *m, bool whole)
{
    int r;

    if (whole)
        ml_vec_clear(&m->before);
    ml_buf_clear(&m->bytes);
    r = ml_replay_put_state(&m->replay, &m->bytes);
    return r < 0 ? r : ml_replay_put_blocks(&m->replay, &m->before, &m->bytes);
}

static int take_checkpoint(struct maker *m)
{
    bool whole = is_next_whole(m);
    struct ml_checkpoint checkpoint = {.at = m->last, .whole = whole};
    uint64_t stretch = m->out->offset, offset, bytes;
    int r = end_stretch(m);

    offset = m->out->offset;
    if (r == 0)
        r = put_state(m, whole);
    checkpoint.state = ml_block_writer_next(m->out);
    if (r == 0)
        r = ml_block_writer_section(m->out, ML_BLOCK_CHECKPOINT, m->last.time_ns, m->bytes.data,
                                    m->bytes.len);
    if (r == 0)
        r = ml_vec_push(&m->list, checkpoint);
    bytes = m->out->offset - offset;
    m->whole_bytes = whole ? bytes : m->whole_bytes;
    m->whole_entries = whole ? m->replay.blocks.len : m->whole_entries;
    m->since_bytes = whole ? 0 : m->since_bytes + bytes;
    m->difference_bytes = whole ? m->difference_bytes : bytes;
    m->taken_bytes += m->out->offset - stretch;
    m->last_event = m->replay.events;
    return r;
}

/* ---- An outline ----------------------------------------------------------------- */

/* The bytes that the open outline will take, if it is like those before. */
static double open_bytes(const struct maker *m)
{
    double ratio = m->outline_raw > 0 ? (double)m->outline_bytes / (double)m->outline_raw : 0.7;

    return ratio * (double)ml_outline_maker_bytes(&m->outlines);
}

static bool is_outline_due(const struct maker *m)
{
    uint64_t since = m->replay.events - m->outline_event;

    if (!ml_outline_maker_can_begin(&m->outlines) || m->classes.known)
        return false;
    if (m->opts->every_events > 0)
        return since >= m->opts->every_events;
    if (!can_outline(m) || since < ml_max_u64(OUTLINE_EVENTS, m->replay.blocks.len / 4))
        return false;
    return (double)(m->taken_bytes + m->outline_bytes) + open_bytes(m) <= room_of(m);
}

static int end_outline(struct maker *m)
{
    uint64_t raw = ml_outline_maker_bytes(&m->outlines), offset = m->out->offset;
    struct ml_outline outline;
    int r;

    if (!m->outlines.is_open)
        return 0;
    r = ml_outline_maker_end(&m->outlines, m->last, m->out, &outline);
    m->outline_raw += raw;
    m->outline_bytes += m->out->offset - offset;
    return r < 0 ? r : ml_vec_push(&m->outline_list, outline);
}

static int take_outline(struct maker *m)
{
    int r = end_outline(m);

    m->outline_event = m->replay.events;
    return r < 0 ? r : ml_outline_maker_begin(&m->outlines, m->last);
}

/* ---- The directory ---------------------------------------------------------------- */

static int put_directory(struct maker *m)
{
    const struct ml_directory_parts parts = {
        .classified = m->classes.known,
        .has_landmarks = !m->landmarks.too_many && !m->samples.too_many,
        .has_segments = !m->segments.too_many,
        .last = m->last,
        .last_end = m->last_end,
        .named = &m->named,
        .checkpoints = m->list.items,
        .checkpoint_count = m->list.len,
        .outlines = m->outline_list.items,
        .outline_count = m->outline_list.len,
        .maker = m->opts->maker,
    };

    return ml_directory_put(&parts, &m->replay, m->out);
}

/* ---- The pass ------------------------------------------------------------------------ */

static int feed(struct maker *m, const struct ml_event *events, size_t count)
{
    int r = ml_replay_feed_all(&m->replay, events, count);

    if (count > 0)
        m->last = (struct ml_moment){m->replay.events, events[count - 1].time_ns};
    return r;
}

/* For an event that may begin or end an instant that has a name, or is in a step. */
static int feed_looked_at(struct maker *m, const struct ml_event *event)
{
    int r = ml_named_instants_before(&m->named, event);

    if (event->kind == ML_PROCESS_END && ml_replay_ends_program(&m->replay, event, -1))
        m->last_end = m->last;
    if (r == 0)
        r = feed(m, event, 1);
    ml_named_instants_after(&m->named, m->last);
    return r;
}

static int copy_segment(struct maker *m, const struct ml_event *event)
{
    if (event->kind != ML_PROCESS_END && !ml_is_segment_event(m->trace, event))
        return 0;
    return ml_landmark_writer_add(&m->segments, event);
}

static int copy_landmark(struct maker *m, const struct ml_event *event)
{
    int r = m->has_segments ? copy_segment(m, event) : 0;

    if (r < 0)
        return r;
    switch (ml_landmark_type(event)) {
    case ML_BLOCK_LANDMARKS: return ml_landmark_writer_add(&m->landmarks, event);
    case ML_BLOCK_SAMPLES: return ml_landmark_writer_add(&m->samples, event);
    default: return 0;
    }
}

static bool begins_step(const struct ml_event *event)
{
    return event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_STEP;
}

static int feed_batch(struct maker *m, const struct ml_event *events, size_t count)
{
    size_t fed = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (events[i].time_ns < (i > 0 ? events[i - 1].time_ns : m->last.time_ns))
            return -EINVAL;
        r = copy_landmark(m, &events[i]);
        if (r < 0 || !ml_named_instants_wants(&m->named, &events[i]))
            continue;
        r = feed(m, events + fed, i - fed);
        if (r == 0 && begins_step(&events[i]) && is_due(m))
            r = take_checkpoint(m);
        if (r == 0)
            r = feed_looked_at(m, &events[i]);
        fed = i + 1;
    }
    return r < 0 ? r : feed(m, events + fed, count - fed);
}

static int read_all(struct maker *m, struct ml_cursor *cursor, struct ml_error *err)
{
    struct pass second = {{tell_part}, m->opts->progress, 1};
    uint64_t total = ml_trace_info(m->trace)->events;
    const struct ml_event *events;
    size_t told = m->list.len; /* checkpoints */
    int n = 0, r = 0;

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0) {
        if (is_overdue(m))
            r = take_checkpoint(m);
        if (told != m->list.len) {
            told = m->list.len;
            ml_progress_tell(&second.progress, m->replay.events, total);
        }
        ml_outline_maker_look(&m->outlines, events, (size_t)n);
        if (r == 0 && is_outline_due(m))
            r = take_outline(m);
        if (r == 0)
            r = feed_batch(m, events, (size_t)n);
    }
    return r < 0 ? r : n;
}

static int make(struct maker *m, struct ml_error *err)
{
    struct pass first = {{tell_part}, m->opts->progress, 0};
    struct ml_cursor *cursor = NULL;
    int r = ml_classify_telling(m->trace, &first.progress, &m->classes, err);

    if (r == 0)
        r = ml_replay_init(&m->replay, m->trace);
    ml_replay_classify(&m->replay, &m->classes);
    if (r == 0)
        r = ml_cursor_open(m->trace, 0, UINT64_MAX, &cursor, err);
    if (r == 0)
        r = take_checkpoint(m);
    if (r == 0)
        r = read_all(m, cursor, err);
    ml_cursor_free(cursor);
    ml_named_instants_end(&m->named);
    if (r == 0)
        r = end_stretch(m);
    if (r == 0)
        r = end_outline(m);
    if (r == 0)
        r = ml_landmark_writer_end(&m->landmarks);
    if (r == 0)
        r = ml_landmark_writer_end(&m->samples);
    if (r == 0)
        r = ml_landmark_writer_end(&m->segments);
    return r < 0 ? r : put_directory(m);
}

int ml_checkpoints_make(const struct ml_trace *trace, const struct ml_checkpoint_opts *opts,
                        struct ml_block_writer *out, struct ml_error *err)
{
    struct maker m = {.trace = trace,
                      .opts = opts,
                      .out = out,
                      .begin_offset = out->offset,
                      .has_segments = ml_trace_has_segments(trace),
                      .named.track.replay = &m.replay};
    int r = ml_landmark_writer_begin(&m.landmarks, trace, ML_BLOCK_LANDMARKS, out);

    ml_outline_maker_init(&m.outlines, &m.replay);
    if (r == 0)
        r = ml_landmark_writer_begin(&m.samples, trace, ML_BLOCK_SAMPLES, out);
    if (r == 0)
        r = ml_landmark_writer_begin(&m.segments, trace, ML_BLOCK_SEGMENTS, out);
    if (r == 0)
        r = make(&m, err);
    ml_landmark_writer_release(&m.landmarks);
    ml_landmark_writer_release(&m.samples);
    ml_landmark_writer_release(&m.segments);
    ml_replay_release(&m.replay);
    ml_classes_release(&m.classes);
    ml_named_instants_release(&m.named);
    ml_outline_maker_release(&m.outlines);
    ml_vec_release(&m.outline_list);
    ml_vec_release(&m.before);
    ml_vec_release(&m.list);
    ml_buf_release(&m.bytes);
    return r;
}
