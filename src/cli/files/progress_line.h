/* progress_line.h: the progress of long work, as one line on a terminal. Nothing is
 * printed unless standard error is our terminal, nor in the first
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
    struct ml_progress progress; /* first: the work gets a pointer to it */
    const char *what;            /* "exporting" */
    bool wanted, shown;
    uint64_t next_ns; /* when to print again */
};

/* @what  must outlive it */
void ml_progress_line_init(struct ml_progress_line *line, const char *what);

/* Erases the line. */
void ml_progress_line_end(struct ml_progress_line *line);

#endif
