/* test_analyze_attach.h: gives a trace of a test checkpoints, many of them, and pyramids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TESTS_ANALYZE_ATTACH_H
#define ML_TESTS_ANALYZE_ATTACH_H

#include "checkpoint_bytes.h"
#include "test_analyze_random.h"

static inline struct ml_buf bytes_of_checkpoints(const struct ml_trace *trace)
{
    struct ml_buf bytes = {0};

    assert_int_equal(ml_section_bytes(trace, 400, &bytes), 0);
    return bytes;
}

static inline void attach(struct ml_trace *trace)
{
    struct ml_buf bytes = bytes_of_checkpoints(trace);

    assert_true(ml_checkpoint_attach(trace, &bytes));
    ml_buf_release(&bytes);
}

#endif
