/* fuzz_checkpoints.c: any bytes as the checkpoints and pyramids of a trace. Every instant and every
 * window has an answer, or the reason is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <inttypes.h>

#include "checkpoints.h"
#include "classify.h"
#include "compiler.h"
#include "events.h"
#include "lifetimes.h"
#include "occasions.h"
#include "pyramid.h"
#include "reserved_curves.h"
#include "sample_curves.h"
#include "section_traces.h"
#include "snapshot.h"
#include "timeline_window.h"
#include "trace_sample.h"

#define INSTANTS 5u
#define STEPS 4u

static void check(int code, const struct ml_error *err)
{
    FUZZ_REQUIRE(code <= 0);
    FUZZ_REQUIRE(!code || err->text[0]);
}

static void take_snapshot(const struct ml_trace *trace, struct ml_at at, const char *device,
                          bool sums)
{
    const struct ml_snapshot_opts opts = {.at = at, .device = device};
    struct ml_snapshot snapshot;
    struct ml_replay replay;
    struct ml_error err = {0};
    int code = sums ? ml_snapshot_sums(trace, &opts, &snapshot, &replay, &err)
                    : ml_snapshot(trace, &opts, &snapshot, &replay, &err);

    check(code, &err);
    ml_snapshot_release(&snapshot);
    ml_replay_release(&replay);
}

static void take_snapshots(const struct ml_trace *trace)
{
    uint64_t end_ns = ml_trace_info(trace)->end_ns;

    for (uint64_t i = 0; i <= INSTANTS; i++)
        take_snapshot(trace, (struct ml_at){.kind = ML_AT_TIME, .time_ns = end_ns * i / INSTANTS},
                      i % 2 ? "cpu" : NULL, i % 3 == 0);
    take_snapshot(trace, (struct ml_at){.kind = ML_AT_END}, NULL, true);
    take_snapshot(trace, (struct ml_at){.kind = ML_AT_OOM, .number = 1}, NULL, false);
    for (uint64_t i = 1; i <= STEPS; i++)
        take_snapshot(trace,
                      (struct ml_at){.kind = i % 2 ? ML_AT_STEP : ML_AT_STEP_END, .number = i},
                      NULL, i % 4 == 1);
}

/* ---- Windows ------------------------------------------------------------------- */

static void read_window(const struct ml_trace *trace, enum ml_bands_by by, const char *device,
                        struct ml_columns columns)
{
    const struct ml_bands_opts opts = {.by = by, .device = device};
    struct ml_bands bands;
    struct ml_error err = {0};
    int code = ml_window_bands(trace, &opts, &columns, &bands, &err);

    check(code, &err);
    FUZZ_REQUIRE(code || bands.moments.len == 2 * columns.count);
    FUZZ_REQUIRE(code || bands.total.peak_time_ns <= ml_trace_info(trace)->end_ns);
    ml_bands_release(&bands);
}

/* The whole run, parts of stored levels and of others, and one finer than any. */
static void read_windows(const struct ml_trace *trace)
{
    uint64_t end_ns = ml_trace_info(trace)->end_ns;

    read_window(trace, ML_BANDS_CATEGORY, NULL, ml_window_columns(trace, 0, end_ns, 1024));
    read_window(trace, ML_BANDS_MODULE, "cuda:0", ml_window_columns(trace, 0, end_ns, 100));
    read_window(trace, ML_BANDS_DEVICE, NULL, ml_window_columns(trace, end_ns / 3, end_ns / 2, 20));
    read_window(trace, ML_BANDS_PROCESS, "cpu", ml_window_columns(trace, end_ns / 2, end_ns, 4));
    read_window(trace, ML_BANDS_MODULE, NULL,
                ml_window_columns(trace, end_ns / 2, end_ns / 2 + 100, 200));
}

/* ---- Copies of events ----------------------------------------------------------- */

static void read_curves(const struct ml_trace *trace)
{
    const struct ml_timeline_opts opts = {.buckets = 50};
    struct ml_reserved_curves reserved;
    struct ml_sample_curves samples;
    struct ml_occasions occasions;
    struct ml_error err = {0};

    check(ml_reserved_curves(trace, &opts, &reserved, &err), &err);
    check(ml_sample_curves(trace, &opts, &samples, &err), &err);
    check(ml_occasions(trace, 100, ml_trace_info(trace)->end_ns / 2, 10, &occasions, &err), &err);
    ml_reserved_curves_release(&reserved);
    ml_sample_curves_release(&samples);
    ml_occasions_release(&occasions);
}

/* ---- Blocks of a window ------------------------------------------------------------ */

static void read_lifetimes(const struct ml_trace *trace)
{
    uint64_t end_ns = ml_trace_info(trace)->end_ns;
    const struct ml_lifetimes_opts opts = {
        .top = 10, .from_ns = end_ns / 3, .to_ns = end_ns / 2, .columns = 20};
    struct ml_lifetimes lifetimes;
    struct ml_error err = {0};

    check(ml_lifetimes(trace, &opts, &lifetimes, &err), &err);
    ml_lifetimes_release(&lifetimes);
}

static int pass_over(void *ctx, const struct ml_event_view *view)
{
    (void)ctx;
    (void)view;
    return 0;
}

/* As `events --from` does it. */
static void list_events(const struct ml_trace *trace)
{
    struct ml_replay start;
    struct ml_events_opts opts = {.from_ns = ml_trace_info(trace)->end_ns / 2,
                                  .to_ns = UINT64_MAX,
                                  .limit = 100,
                                  .start = &start};
    struct ml_checkpoints checkpoints;
    struct ml_classes classes = {0};
    struct ml_error err = {0};

    FUZZ_REQUIRE(ml_replay_init(&start, trace) == 0);
    if (ml_checkpoints_open(trace, &checkpoints) == 0 &&
        ml_checkpoint_restore(&checkpoints,
                              ml_checkpoint_before_time(&checkpoints, opts.from_ns - 1), &start,
                              &classes) == 0)
        check(ml_events(trace, &opts, pass_over, NULL, NULL, &err), &err);
    else
        ml_replay_release(&start);
    ml_classes_release(&classes);
    ml_checkpoints_release(&checkpoints);
}

/* ---- Interface ------------------------------------------------------------------------ */

/* Inputs of which readers take something. */
static struct {
    uint64_t directories, pyramids;
} taken;

static bool takes_directory(const struct ml_trace *trace)
{
    struct ml_checkpoints checkpoints;
    bool takes = ml_checkpoints_open(trace, &checkpoints) == 0;

    ml_checkpoints_release(&checkpoints);
    taken.directories += takes;
    return takes;
}

static bool takes_pyramid(const struct ml_trace *trace)
{
    struct ml_pyramid pyramid;
    bool takes = ml_pyramid_open(ml_trace_checkpoints(trace), NULL, &pyramid) == 0;

    ml_pyramid_release(&pyramid);
    taken.pyramids += takes;
    return takes;
}

void fuzz_tell(bool at_end)
{
    (void)at_end;
    printf("directories taken from %" PRIu64 " inputs, pyramids from %" PRIu64 "\n",
           taken.directories, taken.pyramids);
}

/* Without a directory, each question replays the trace: one is enough. */
static void ask(const struct ml_trace *trace)
{
    bool directory = takes_directory(trace), pyramid = takes_pyramid(trace);

    take_snapshot(trace, (struct ml_at){.kind = ML_AT_PEAK}, NULL, false);
    if (directory || pyramid)
        read_windows(trace);
    if (!directory)
        return;
    take_snapshots(trace);
    read_curves(trace);
    read_lifetimes(trace);
    list_events(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct ml_trace *traces[SECTION_TRACES];
    struct ml_trace *sections = NULL;
    enum section_trace which;

    if (ml_bytes_open(data, len, false, &sections, NULL) < 0)
        return 0;
    which = section_trace_of(sections);
    if (!traces[which])
        FUZZ_REQUIRE(section_trace_open(which, &traces[which]) == 0);
    ml_trace_attach_checkpoints(traces[which], sections);
    ask(traces[which]);
    ml_trace_attach_checkpoints(traces[which], NULL);
    return 0;
}
