/* progress_line.c: see progress_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress_line.h"

#include <stdio.h>
#include <unistd.h>

#include "nanoseconds.h"
#include "text.h"

#define FIRST_AFTER_NS 1000000000u
#define EVERY_NS 100000000u

static void tell(struct ml_progress *progress, uint64_t done, uint64_t total)
{
    struct ml_progress_line *line = (struct ml_progress_line *)progress;
    uint64_t now = line->wanted ? ml_clock_ns(CLOCK_MONOTONIC) : 0;
    char bytes[32];

    if (!line->wanted || now < line->next_ns)
        return;
    line->next_ns = now + EVERY_NS;
    line->shown = true;
    if (total)
        fprintf(stderr, "\r\033[Kmemledger: %s: %.0f %%\r", line->what,
                100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r\033[Kmemledger: %s: %s\r", line->what,
                ml_format_bytes(bytes, (int64_t)done, ML_UNIT_AUTO));
}

void ml_progress_line_init(struct ml_progress_line *line, const char *what)
{
    *line = (struct ml_progress_line){
        .progress.tell = tell,
        .what = what,
        /* Not in the background either: another process uses the terminal then. */
        .wanted = isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp(),
        .next_ns = ml_clock_ns(CLOCK_MONOTONIC) + FIRST_AFTER_NS,
    };
}

void ml_progress_line_end(struct ml_progress_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}
