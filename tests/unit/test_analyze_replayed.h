/* test_analyze_replayed.h: a replay of all that a fixture recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_ANALYZE_REPLAYED_H
#define ML_TEST_ANALYZE_REPLAYED_H

#include "test_analyze_fixture.h"

#include "replay.h"

struct replayed {
    struct ml_trace *trace;
    struct ml_replay replay;
};

/* Closes the fixture. The caller calls replayed_release. */
static inline struct replayed replay_fixture(struct fixture *f)
{
    struct replayed r = {.trace = fixture_open(f)};
    struct ml_error err = {0};

    assert_int_equal(ml_replay_init(&r.replay, r.trace), 0);
    assert_int_equal(ml_replay_trace(&r.replay, UINT64_MAX, &err), 0);
    return r;
}

static inline void replayed_release(struct replayed *r)
{
    ml_replay_release(&r->replay);
    ml_trace_free(r->trace);
}

#endif
