/* child_output.h: runs a command of memledger in a process of its own and collects what it prints.
 * A trace that makes it fail, or take all memory, does no harm to the server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_CHILD_OUTPUT_H
#define ML_SERVE_CHILD_OUTPUT_H

#include <stdbool.h>

#include "error.h"
#include "vec.h"

struct ml_child_limits {
    size_t output_bytes;
    unsigned seconds;
    int stop_fd;      /* becomes readable when the command is to be ended; 0: there is none */
    bool show_errors; /* its standard error is this process's, not part of the output */
};

/* @argv   from the command's name on, NULL at the end
 * @out    what it printed, also after a failure; standard error if it failed
 * @return its exit code, or negative errno with a reason; -ECANCELED: `stop_fd` asked for its end
 */
int ml_child_output(const char *const *argv, const struct ml_child_limits *limits,
                    struct ml_buf *out, struct ml_error *err);

/* Why a command failed, by what it printed; part of `text`. The first line that begins with its
 * name, without that name: warnings about the trace come before it. Else the first line. */
const char *ml_child_reason(struct ml_buf *text);

#endif
