/* progress.h: report the progress of long work. The work calls ml_progress_tell as often as it
 * likes; its caller decides what to do with the report (print a line on a terminal, or
 * nothing).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PROGRESS_H
#define ML_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct ml_progress {
    void (*tell)(struct ml_progress *progress, uint64_t done, uint64_t total);
};

/* @progress  NULL: no report is wanted
 * @total     in the unit of `done`; 0: unknown, and `done` counts bytes */
static inline void ml_progress_tell(struct ml_progress *progress, uint64_t done, uint64_t total)
{
    if (progress)
        progress->tell(progress, done, total);
}

#endif
