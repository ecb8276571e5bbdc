/* test_analyze_attach.h: gives a trace of a test checkpoints, many of them, and pyramids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TESTS_ANALYZE_ATTACH_H
#define ML_TESTS_ANALYZE_ATTACH_H

#include "checkpoint_maker.h"
#include "pyramid_maker.h"
#include "test_analyze_random.h"

static inline struct ml_buf bytes_of_checkpoints(const struct ml_trace *trace)
{
    const struct ml_checkpoint_opts opts = {.every_events = 400};
    int fd = memfd_create("checkpoints", MFD_CLOEXEC);
    struct ml_block_writer writer;
    struct ml_error err = {0};
    struct ml_buf bytes = {0};

    ml_block_writer_open(&writer, fd, 0);
    assert_int_equal(ml_checkpoints_make(trace, &opts, &writer, &err), 0);
    assert_int_equal(ml_pyramids_make(trace, NULL, &writer, &err), 0);
    assert_int_equal(ml_block_writer_finish(&writer), 0);
    ml_block_writer_release(&writer);
    assert_int_equal(ml_bytes_of_fd(fd, &bytes), 0);
    close(fd);
    return bytes;
}

static inline void attach(struct ml_trace *trace)
{
    struct ml_buf bytes = bytes_of_checkpoints(trace);
    struct ml_trace *file = NULL;

    assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &file, NULL), 0);
    ml_trace_attach_checkpoints(trace, file);
    ml_buf_release(&bytes);
}

#endif
