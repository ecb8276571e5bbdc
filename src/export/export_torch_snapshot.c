/* export_torch_snapshot.c: the trace as a PyTorch memory snapshot, the pickle that
 * torch/cuda/_memory_viz.py and pytorch.org/memory_viz open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "exporter.h"
#include "snapshot_parts.h"

/* One list for each device up to the highest number, empty for missing ones. */
static int put_traces(struct ml_snapshot_export *s, struct ml_progress *progress,
                      struct ml_error *err)
{
    uint32_t number = 0;
    int r = 0;

    ml_pickle_put_word(&s->pickle, "device_traces");
    ml_pickle_put_list(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    for (size_t i = 0; r == 0 && i < s->devices.len; i++) {
        for (; number < s->devices.items[i].number; number++)
            ml_pickle_put_list(&s->pickle);
        r = ml_torch_put_trace(s, &s->devices.items[i], progress, err);
        number++;
    }
    ml_pickle_put_append(&s->pickle);
    return r;
}

static int put_segments(struct ml_snapshot_export *s)
{
    int r = 0;

    ml_pickle_put_word(&s->pickle, "segments");
    ml_torch_begin_list(s);
    for (size_t i = 0; r == 0 && i < s->devices.len; i++)
        r = ml_torch_put_segments(s, &s->devices.items[i]);
    ml_torch_end_list(s);
    return r;
}

static int write_file(struct ml_snapshot_export *s, struct ml_output *out,
                      struct ml_progress *progress, struct ml_error *err)
{
    int r;

    ml_pickle_writer_open(&s->pickle, out);
    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    r = put_traces(s, progress, err);
    if (r == 0)
        r = put_segments(s);
    ml_pickle_put_word(&s->pickle, "allocator_settings");
    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_word(&s->pickle, "external_annotations");
    ml_pickle_put_list(&s->pickle);
    ml_pickle_put_set(&s->pickle);
    return r < 0 ? r : ml_pickle_writer_close(&s->pickle);
}

static void release(struct ml_snapshot_export *s)
{
    ml_vec_release(&s->devices);
    ml_replay_release(&s->replay);
    ml_order_release(&s->segments);
    ml_map_release(&s->alone);
    ml_pickle_writer_release(&s->pickle);
    ml_site_frames_release(&s->frames);
    ml_map_release(&s->frame_memos);
    ml_map_release(&s->stack_memos);
    ml_buf_release(&s->scratch);
    free(s);
}

/* The snapshot shows the end of the run unless --at is given. */
static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    struct ml_at end = {.kind = ML_AT_END};
    struct ml_snapshot_export *s = calloc(1, sizeof(*s));
    struct ml_instant instant;
    int r =
        s ? ml_instant_find(trace, opts->at_given ? &opts->at : &end, opts->device, &instant, err)
          : -ENOMEM;

    if (!s)
        return r;
    s->trace = trace;
    if (r == 0) {
        s->event = instant.event;
        r = ml_torch_choose(s, opts->device, err);
    }
    if (r == 0)
        r = ml_site_frames_init(&s->frames, trace);
    if (r == 0)
        r = write_file(s, out, opts->progress, err);
    release(s);
    return r;
}

const struct ml_exporter ml_exporter_torch_snapshot = {
    .name = "torch-snapshot",
    .suffix = ".pickle",
    .help = "PyTorch's memory snapshot, for its memory_viz",
    .run = export_trace,
};
