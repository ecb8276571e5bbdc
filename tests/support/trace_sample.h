/* trace_sample.h: one small trace that tests know by heart, and traces in memory.
 *
 * The sample has events of every kind in several blocks, and definitions of
 * every sort in between, in a few kilobytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_TRACE_SAMPLE_H
#define ML_TEST_TRACE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "event.h"
#include "trace.h"
#include "trace_maker.h"
#include "vec.h"

#define ML_SAMPLE_EVENTS 60u
#define ML_SAMPLE_BLOCK_EVENTS 12u
#define ML_SAMPLE_BLOCKS 5u
#define ML_SAMPLE_STEP_NS 100u /* from one event to the next */
#define ML_SAMPLE_WALL_NS 1700000000000000000u

/* Event i of the sample, at i * ML_SAMPLE_STEP_NS. */
struct ml_event ml_sample_event(uint32_t i);

/* The sample as a file's bytes.
 * @opts   may be NULL; block_events and start_wall_ns are the sample's own
 * @ret    an empty buffer
 * @return 0 or negative errno */
int ml_sample_make(const struct ml_maker_opts *opts, struct ml_buf *ret);

/* The whole contents of a file. @return 0 or negative errno */
int ml_bytes_of_fd(int fd, struct ml_buf *ret);

/* ml_trace_open on a file with these bytes, called "sample.mled" in messages. */
int ml_bytes_open(const void *bytes, size_t len, bool salvage, struct ml_trace **ret,
                  struct ml_error *err);

#endif
