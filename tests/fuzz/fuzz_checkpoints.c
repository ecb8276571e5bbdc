/* fuzz_checkpoints.c: any bytes as the checkpoints of a trace. Every instant has an answer, or the
 * reason is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "checkpoint_bytes.h"
#include "compiler.h"
#include "snapshot.h"
#include "trace_sample.h"

static struct ml_trace *open_sample(void)
{
    struct ml_trace *trace = NULL;
    struct ml_buf bytes = {0};

    FUZZ_REQUIRE(ml_sample_make(NULL, &bytes) == 0);
    FUZZ_REQUIRE(ml_bytes_open(bytes.data, bytes.len, false, &trace, NULL) == 0);
    ml_buf_release(&bytes);
    return trace;
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

    FUZZ_REQUIRE(code <= 0);
    FUZZ_REQUIRE(!code || err.text[0]);
    ml_snapshot_release(&snapshot);
    ml_replay_release(&replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct ml_trace *trace;
    const struct ml_buf bytes = {.data = (uint8_t *)data, .len = len};
    uint64_t end_ns;

    if (!trace)
        trace = open_sample();
    if (!ml_checkpoint_attach(trace, &bytes))
        return 0;
    end_ns = ml_trace_info(trace)->end_ns;
    for (uint64_t i = 0; i <= ML_SAMPLE_BLOCKS; i++)
        take_snapshot(trace,
                      (struct ml_at){.kind = ML_AT_TIME, .time_ns = end_ns * i / ML_SAMPLE_BLOCKS},
                      i % 2 ? "cpu" : NULL, i % 3 == 0);
    take_snapshot(trace, (struct ml_at){.kind = ML_AT_PEAK}, NULL, false);
    take_snapshot(trace, (struct ml_at){.kind = ML_AT_END}, NULL, true);
    ml_trace_attach_checkpoints(trace, NULL);
    return 0;
}
