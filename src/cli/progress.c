/* progress.c: see progress.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "nanoseconds.h"
#include "text.h"

#define QUIET_NS 1000000000u
#define EVERY_NS 100000000u

void ml_work_progress_init(struct ml_work_progress *p, const char *what)
{
    *p = (struct ml_work_progress){
        .what = what,
        .start_ns = ml_clock_ns(CLOCK_MONOTONIC),
        .wanted = isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp(),
    };
}

void ml_work_progress_show(struct ml_work_progress *p, uint64_t done, uint64_t total)
{
    char so_far[32], all[32];
    uint64_t now;

    if (!p->wanted)
        return;
    now = ml_clock_ns(CLOCK_MONOTONIC);
    if (now - p->start_ns < QUIET_NS || now - p->shown_ns < EVERY_NS)
        return;
    p->shown_ns = now;
    p->shown = true;
    ml_format_bytes(so_far, (int64_t)done, ML_UNIT_AUTO);
    if (total && done <= total)
        fprintf(stderr, "\r\033[Kmemledger: %s: %.0f %%, %s of %s\r", p->what,
                100.0 * (double)done / (double)total, so_far,
                ml_format_bytes(all, (int64_t)total, ML_UNIT_AUTO));
    else
        fprintf(stderr, "\r\033[Kmemledger: %s: %s\r", p->what, so_far);
}

void ml_work_progress_clear(struct ml_work_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
