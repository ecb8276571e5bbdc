/* progress_line.h: how far long work has come, as one line on a terminal. Nothing is
 * printed where standard error is no terminal of ours, nor before the work has taken a
 * second.
 *
 *     struct ml_progress_line line;
 *     ml_progress_line_init(&line, "exporting");
 *     r = work(..., &line.progress);
 *     ml_progress_line_end(&line);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PROGRESS_LINE_H
#define ML_CLI_PROGRESS_LINE_H

#include <stdbool.h>

#include "progress.h"

struct ml_progress_line {
    struct ml_progress progress; /* first: what the work is given */
    const char *what;            /* "exporting" */
    bool wanted, shown;
    uint64_t next_ns; /* when to print again */
};

/* @what  must outlive it */
void ml_progress_line_init(struct ml_progress_line *line, const char *what);

/* Takes the line away. */
void ml_progress_line_end(struct ml_progress_line *line);

#endif
