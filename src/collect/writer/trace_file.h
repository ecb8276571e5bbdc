/* trace_file.h: the file that a trace is written to: created, or locked and kept as it
 * is until there is something to put in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_FILE_H
#define ML_TRACE_FILE_H

#include <stdbool.h>

#include "error.h"

struct ml_trace_file {
    int fd;
    bool is_regular;
    bool is_new; /* it was not there before; else it was, and others may want it */
};

/* Opens for writing, never waiting: a pipe must have its reader already. A new file
 * has mode 0600. An existing one is refused unless `force`, and with it when another
 * process is writing it; its contents and its mode stay. */
int ml_trace_file_open(struct ml_trace_file *ret, const char *path, bool force,
                       struct ml_error *err);

/* Before the first byte of a recording goes to a regular file that was there before: it is for its
 * owner alone. */
void ml_trace_file_make_private(int fd);

#endif
