/* landmarks.c: see landmarks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "landmarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"
#include "cuda_spaces.h"

#define SHARE 100             /* of the trace's bytes: one in so many … */
#define LEAST_BYTES (1 << 16) /* … but at least this */

static bool holds_segments(const struct ml_trace *trace, const struct ml_space *space)
{
    const char *name;

    if (space->level != MEMLEDGER_DRIVER)
        return space->level == MEMLEDGER_POOL;
    name = ml_trace_string(trace, space->name, NULL);
    return strcmp(name, ML_CUDA_MEMORY) == 0 || strcmp(name, ML_CUDA_VIRTUAL) == 0;
}

bool ml_trace_has_segments(const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++)
        if (holds_segments(trace, ml_trace_space(trace, i)))
            return true;
    return false;
}

bool ml_is_segment_event(const struct ml_trace *trace, const struct ml_event *event)
{
    return ml_changes_total(event) && event->kind != ML_PROCESS_END &&
           holds_segments(trace, ml_trace_space(trace, event->space));
}

/* ---- Reading ----------------------------------------------------------------- */

/* The blocks are checked before, because the caller could not start again after a damaged one. */
static bool has_landmarks(const struct ml_trace *trace, uint8_t type)
{
    struct ml_checkpoints checkpoints;
    bool has = ml_checkpoints_open(trace, &checkpoints) == 0 &&
               (type == ML_BLOCK_SEGMENTS ? checkpoints.has_segments : checkpoints.has_landmarks) &&
               ml_trace_check_blocks(checkpoints.file, type) == 0;

    ml_checkpoints_release(&checkpoints);
    return has;
}

int ml_each_landmark(const struct ml_trace *trace, uint8_t type, uint64_t from_ns, uint64_t to_ns,
                     ml_event_fn *fn, void *ctx, struct ml_error *err)
{
    struct ml_cursor *cursor;
    int r;

    if (has_landmarks(trace, type))
        r = ml_cursor_open_copies(ml_trace_checkpoints(trace), type, from_ns, to_ns, &cursor, err);
    else
        r = ml_cursor_open(trace, from_ns, to_ns, &cursor, err);
    return r < 0 ? r : ml_each_event_of(cursor, fn, ctx, err);
}

/* ---- Writing ----------------------------------------------------------------- */

int ml_landmark_writer_begin(struct ml_landmark_writer *w, const struct ml_trace *trace,
                             uint8_t type, struct ml_block_writer *out)
{
    *w = (struct ml_landmark_writer){
        .out = out,
        .type = type,
        .encoder = calloc(1, sizeof(struct ml_encoder)),
        .raw = malloc(ML_EVENTS_RAW_MAX),
        .left_bytes = ml_max_u64(LEAST_BYTES, ml_trace_info(trace)->event_bytes / SHARE),
    };
    if (!w->encoder || !w->raw)
        return -ENOMEM;
    ml_encoder_init(w->encoder);
    return 0;
}

void ml_landmark_writer_release(struct ml_landmark_writer *w)
{
    free(w->encoder);
    free(w->raw);
    *w = (struct ml_landmark_writer){0};
}

static int flush(struct ml_landmark_writer *w)
{
    uint64_t before = w->out->offset, taken;
    struct ml_block_header header = {0};
    size_t len = ml_encoder_finish(w->encoder, w->raw, &header);
    int r = len > 0 ? ml_block_writer_events(w->out, w->type, &header, w->raw, len) : 0;

    taken = w->out->offset - before;
    w->too_many = taken > w->left_bytes;
    w->left_bytes -= w->too_many ? 0 : taken;
    return r;
}

int ml_landmark_writer_add(struct ml_landmark_writer *w, const struct ml_event *event)
{
    if (w->too_many)
        return 0;
    ml_encoder_add(w->encoder, event);
    return ml_encoder_full(w->encoder) ? flush(w) : 0;
}

int ml_landmark_writer_end(struct ml_landmark_writer *w)
{
    return w->too_many ? 0 : flush(w);
}
