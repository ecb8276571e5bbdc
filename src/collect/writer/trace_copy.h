/* trace_copy.h: saves the trace that is being written to a file of its own, while writing goes on.
 *
 * A child process copies the file: the blocks that are in it do not change any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_COPY_H
#define ML_TRACE_COPY_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace_writer.h"

/* Writes everything so far, then starts the copy. An existing file of that name is not replaced.
 * @ret_child  the process that copies; its exit code is 0 if the copy is complete
 * @return 0 or negative errno */
int ml_trace_copy_start(struct ml_trace_writer *w, const char *path, pid_t *ret_child);

/* @wait   until it has ended
 * @return 1: the copy is complete; 0: it goes on; -EIO: it failed, and left no file */
int ml_trace_copy_done(pid_t child, bool wait);

#endif
