/* progress.h: how far long work has come, told to whoever wants to know. The work
 * calls ml_progress_tell as often as it likes; what becomes of it (a line on a
 * terminal, nothing) is its caller's business.
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

/* @progress  NULL: nobody wants to know
 * @total     of the same sort as `done`; 0: not known, and `done` is bytes */
static inline void ml_progress_tell(struct ml_progress *progress, uint64_t done, uint64_t total)
{
    if (progress)
        progress->tell(progress, done, total);
}

#endif
