/* checkpoint_bytes.h: the checkpoints and pyramids of a trace as the bytes of a file, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_CHECKPOINT_BYTES_H
#define ML_TEST_CHECKPOINT_BYTES_H

#include <stdbool.h>

#include "trace.h"
#include "vec.h"

/* @every  events from one checkpoint to the next, at least
 * @ret    an empty buffer
 * @return 0 or negative errno */
int ml_checkpoint_bytes(const struct ml_trace *trace, uint64_t every, struct ml_buf *ret);

/* The same with pyramids. */
int ml_section_bytes(const struct ml_trace *trace, uint64_t every, struct ml_buf *ret);

/* Attaches a file with these bytes instead of the one before. @return whether it can be opened */
bool ml_checkpoint_attach(struct ml_trace *trace, const struct ml_buf *bytes);

#endif
