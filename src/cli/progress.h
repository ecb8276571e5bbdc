/* progress.h: how far long work has come, on one line of the terminal.
 *
 * Nothing is shown in the first second, nor where standard error is no terminal of
 * ours. Showing costs little: the clock is read at each call, the line rewritten ten
 * times a second at most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PROGRESS_H
#define ML_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ml_work_progress {
    const char *what; /* "reading FILE"; owned by the caller */
    uint64_t start_ns, shown_ns;
    bool shown;
    bool wanted;
};

void ml_work_progress_init(struct ml_work_progress *p, const char *what);

/* @total  of the same sort as `done`, in bytes; 0: unknown */
void ml_work_progress_show(struct ml_work_progress *p, uint64_t done, uint64_t total);

/* Takes the line away. */
void ml_work_progress_clear(struct ml_work_progress *p);

#endif
