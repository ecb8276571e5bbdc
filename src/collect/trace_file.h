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
    bool is_empty;
};

/* Opens for writing, never waiting: a pipe must have its reader already. A new file
 * has mode 0600. An existing one is refused unless `force`, and with it when another
 * process is writing it; what is in it stays. */
int ml_trace_file_open(struct ml_trace_file *ret, const char *path, bool force,
                       struct ml_error *err);

#endif
