/* phase_peaks.c: see phase_peaks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "phase_peaks.h"

#include <errno.h>

#include "memledger/memledger.h"
#include "replay.h"

struct reading {
    struct ml_replay replay;
    struct ml_phase_peaks *peaks;
    int64_t process; /* the process whose phases count, -1: none yet */
    uint32_t phase;  /* the current one */
    bool ended;
    int failed;
};

/* Ends the current phase. */
static int close_phase(struct reading *r)
{
    uint64_t bytes = r->replay.recent_peak.bytes;

    for (size_t i = 0; i < r->peaks->list.len; i++)
        if (r->peaks->list.items[i].phase == r->phase) {
            struct ml_phase_peak *peak = &r->peaks->list.items[i];

            peak->peak_bytes = ml_max_u64(peak->peak_bytes, bytes);
            return 0;
        }
    return ml_vec_push(&r->peaks->list, (struct ml_phase_peak){r->phase, bytes});
}

static int on_phase(struct reading *r, const struct ml_event *event)
{
    uint32_t process = ml_trace_thread(r->replay.trace, event->thread)->process;

    if (r->process < 0)
        r->process = process;
    if (process != r->process)
        return 0;
    if (close_phase(r) < 0)
        return -ENOMEM;
    r->phase = (uint32_t)event->args[2];
    ml_replay_reset_crest(&r->replay, event->time_ns);
    return 0;
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;
    int failed = 0;

    if (event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_PHASE && !r->ended) {
        failed = on_phase(r, event);
    } else if (event->kind == ML_PROCESS_END && (int64_t)event->args[0] == r->process) {
        failed = r->ended ? 0 : close_phase(r);
        r->ended = true;
    }
    if (failed < 0)
        r->failed = failed;
}

int ml_phase_peaks(const struct ml_trace *trace, const struct ml_level_caps *caps,
                   struct ml_phase_peaks *ret, struct ml_error *err)
{
    struct reading reading = {.peaks = ret, .process = -1};
    int r = ml_replay_init_capped(&reading.replay, trace, caps);

    *ret = (struct ml_phase_peaks){0};
    reading.replay.on_mark = on_mark;
    reading.replay.ctx = &reading;
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    else
        r = ml_replay_trace(&reading.replay, UINT64_MAX, err);
    if (r == 0 && reading.process >= 0 && !reading.ended)
        reading.failed = close_phase(&reading);
    if (r == 0 && reading.failed < 0)
        r = ml_error_set(err, reading.failed, "out of memory");
    ml_replay_release(&reading.replay);
    return r;
}

void ml_phase_peaks_release(struct ml_phase_peaks *peaks)
{
    ml_vec_release(&peaks->list);
}
