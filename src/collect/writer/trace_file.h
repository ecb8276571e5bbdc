/* trace_file.h: the file that a trace is written to: created, or locked and kept unchanged
 * until its replacement begins.
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
    bool is_new; /* it did not exist before; an existing one may be wanted by others */
};

/* Opens for writing without waiting: a pipe must already have a reader. A new file
 * has mode 0600. An existing one is refused unless `force`, and even then while another
 * process is writing it; its contents and its mode stay. */
int ml_trace_file_open(struct ml_trace_file *ret, const char *path, bool force,
                       struct ml_error *err);

/* Makes a regular file that existed before accessible to its owner only. Call it before the first
 * byte of a recording is written. */
void ml_trace_file_make_private(int fd);

#endif
