/* test_checkpoints_oom.c: checkpoints and pyramids when memory runs out: fail the Nth allocation
 * and all after it, for every N, until all of it works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_random.h"

#include <errno.h>

#include "checkpoint_bytes.h"
#include "fail_nth.h"
#include "snapshot.h"

#define EVENTS 300

static struct ml_trace *short_trace(void)
{
    struct random_run run = {.random = {7}, .modules = true, .ends = true, .events = EVENTS};

    return random_trace_of(run);
}

static int take_snapshot(const struct ml_trace *trace)
{
    const struct ml_snapshot_opts opts = {
        .at = {.kind = ML_AT_TIME, .time_ns = ml_trace_info(trace)->end_ns / 2}};
    struct ml_snapshot snapshot;
    struct ml_replay replay;
    struct ml_error err = {0};
    int r = ml_snapshot(trace, &opts, &snapshot, &replay, &err);

    ml_snapshot_release(&snapshot);
    ml_replay_release(&replay);
    return r;
}

static void making_them(void **state)
{
    struct ml_trace *trace = short_trace();
    bool failed = true;

    (void)state;
    for (long n = 0; failed; n++) {
        struct ml_buf bytes = {0};
        int r;

        fail_from_nth(n);
        r = ml_checkpoint_bytes(trace, 1, &bytes);
        failed = fail_end();
        assert_int_equal(r < 0, failed);
        ml_buf_release(&bytes);
    }
    ml_trace_free(trace);
}

/* What fails with checkpoints may work without them. */
static void using_them(void **state)
{
    struct ml_trace *trace = short_trace();
    struct ml_buf bytes = {0};
    bool failed = true;

    (void)state;
    assert_int_equal(ml_checkpoint_bytes(trace, 1, &bytes), 0);
    assert_true(ml_checkpoint_attach(trace, &bytes));
    for (long n = 0; failed; n++) {
        int r;

        fail_from_nth(n);
        r = take_snapshot(trace);
        failed = fail_end();
        assert_true(failed || r == 0);
        assert_true(r == 0 || r == -ENOMEM);
    }
    ml_buf_release(&bytes);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making_them),
        cmocka_unit_test(using_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
