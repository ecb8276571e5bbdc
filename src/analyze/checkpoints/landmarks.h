/* landmarks.h: the events that the axis of a timeline shows (steps, epochs, phases, markers,
 * refused allocations), and those of its curves: samples, and the segments of pools. They are few
 * among the others.
 * Checkpoints come with copies of them, so that a timeline need not read the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LANDMARKS_H
#define ML_ANALYZE_LANDMARKS_H

#include "block_write.h"
#include "each_event.h"
#include "encode.h"
#include "memledger/memledger.h"
#include "trace.h"

/* The type of the blocks that have a copy of the event; 0: none has. A node of a backward pass is a
 * mark, too, but not one for a timeline. */
static inline uint8_t ml_landmark_type(const struct ml_event *event)
{
    switch (event->kind) {
    case ML_MARK:
        return event->args[0] == MEMLEDGER_MARK_STEP || event->args[0] == MEMLEDGER_MARK_EPOCH ||
                       event->args[0] == MEMLEDGER_MARK_PHASE || ml_mark_is_pause(event->args[0])
                   ? ML_BLOCK_LANDMARKS
                   : 0;
    case ML_MARKER:
    case ML_OOM: return ML_BLOCK_LANDMARKS;
    case ML_SAMPLE:
    case ML_PROCESS_END: return ML_BLOCK_SAMPLES;
    default: return 0;
    }
}

/* Whether the trace has spaces of segments at all: those of pools, or the driver's that pools take
 * their segments from. */
bool ml_trace_has_segments(const struct ml_trace *trace);

/* Whether memory of such a space was taken or given back. Copies of these events, and of ends of
 * processes, are in blocks of the type ML_BLOCK_SEGMENTS. */
bool ml_is_segment_event(const struct ml_trace *trace, const struct ml_event *event);

/* Calls `fn` with each event of that type whose time is in the range, in order, and, if the trace
 * has no checkpoints or damaged ones, with all other events of this time as well.
 * @return 0 or negative errno, with the reason in `err` */
int ml_each_landmark(const struct ml_trace *trace, uint8_t type, uint64_t from_ns, uint64_t to_ns,
                     ml_event_fn *fn, void *ctx, struct ml_error *err);

/* Copies events into blocks of one type of a file of checkpoints. */
struct ml_landmark_writer {
    struct ml_block_writer *out;
    uint8_t type;
    struct ml_encoder *encoder;
    uint8_t *raw;
    uint64_t left_bytes; /* that they may still take */
    bool too_many;       /* they would take too much of the file: those written are not all */
};

/* @return 0 or -ENOMEM; release it in both cases */
int ml_landmark_writer_begin(struct ml_landmark_writer *w, const struct ml_trace *trace,
                             uint8_t type, struct ml_block_writer *out);
void ml_landmark_writer_release(struct ml_landmark_writer *w);

/* Both return 0 or negative errno. */
int ml_landmark_writer_add(struct ml_landmark_writer *w, const struct ml_event *event);
int ml_landmark_writer_end(struct ml_landmark_writer *w);

#endif
