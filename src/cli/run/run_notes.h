/* run_notes.h: the progress line of `memledger run`, and the closing note of all that record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RUN_NOTES_H
#define ML_RUN_NOTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring.h"

struct ml_run_progress {
    uint64_t start_ns;
    bool shown;
    bool wanted; /* stderr is a terminal, and we are in its foreground */
};

void ml_run_progress_init(struct ml_run_progress *p);

/* Rewrites the progress line; nothing in the first two seconds. */
void ml_run_progress_show(struct ml_run_progress *p, const struct ml_session *page);
void ml_run_progress_clear(struct ml_run_progress *p);

struct ml_run_result {
    const char *trace;
    const char *program; /* its name, without folders */
    const char *session_dir;
    pid_t attached; /* the process, which was not started but attached to; 0: it was started */
    bool quiet;
    bool heap;
    bool sample_only;
    bool cuda_injection; /* the CUDA driver loads the recorder */
    bool keeps_part;     /* only the last part of the recording */
    bool obstacle;       /* a note has said that the program cannot be recorded */
    bool collector_killed;
    pid_t collector_left; /* it continues after us; 0: it has ended */
};

/* Prints the closing note and the problems of the run on stderr. */
void ml_run_note(const struct ml_run_result *result, const struct ml_session *page);

#endif
