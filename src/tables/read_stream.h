/* read_stream.h: a table of a trace as an Arrow stream, and the reference count that keeps the
 * trace open while a stream reads it.
 *
 * Any thread may release streams, batches and the trace itself, in any order, without Python's
 * lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_READ_STREAM_H
#define ML_READ_STREAM_H

#include "read_table.h"

/* An open trace with a reference count. */
struct ml_held_trace;

/* Takes over the trace on success. @return NULL: out of memory */
struct ml_held_trace *ml_held_take(struct ml_trace *trace);

/* @return 0 or negative errno; the caller holds a reference to *ret */
int ml_held_open(const char *path, bool salvage, struct ml_held_trace **ret, struct ml_error *err);
struct ml_held_trace *ml_held_hold(struct ml_held_trace *held);
void ml_held_drop(struct ml_held_trace *held); /* NULL is fine */
const struct ml_trace *ml_held_trace(const struct ml_held_trace *held);

/* Reading begins with the first batch. @return 0 or -ENOMEM */
int ml_table_stream(struct ml_held_trace *held, const struct ml_table_kind *kind,
                    struct ArrowArrayStream *ret);

/* The failure of a stream that this library created. */
const struct ml_error *ml_stream_error(const struct ArrowArrayStream *stream);

#endif
