/* follow.h: an open trace grows with its file, while the recording goes on.
 *
 *     ml_trace_open(path, NULL, &t, &err);
 *     while (!ml_trace_info(t)->has_index) {
 *         ... wait ...
 *         if (ml_trace_grow(t, &err) > 0)
 *             ... read the events after those read so far: ml_cursor_skip() ...
 *     }
 *
 * Polling is all: the file may be on another machine or belong to another user. Only whole blocks
 * with the right checksum are read. The recorder may replace the last events block of the file by a
 * longer one that begins with the same events, so events are counted from the first one of the
 * trace, and their numbers never change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_FOLLOW_H
#define ML_TRACE_FOLLOW_H

#include "trace.h"

/* Reads the definitions and lists the blocks that were added since the last call. No cursor may be
 * open, and no other thread may use the trace. Pointers to definitions become invalid.
 * @return 1 if there are new blocks, or the recording has ended; 0 if not; -ESTALE if the path now
 *         names another file or an older recording was overwritten: open it again; -EBADMSG if a
 *         block stays unreadable although others follow it; or another negative errno */
int ml_trace_grow(struct ml_trace *t, struct ml_error *err);

/* Forgets the blocks that contain none but the first `events` events of the trace, so that memory
 * stays flat while a trace is followed. A cursor must then skip at least as many. */
void ml_trace_forget(struct ml_trace *t, uint64_t events);

#endif
