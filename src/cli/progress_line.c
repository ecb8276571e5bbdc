/* progress_line.c: see progress_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER_NS 1000000000u
#define EVERY_NS 100000000u

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell(struct ml_progress *progress, uint64_t done, uint64_t total)
{
    struct ml_progress_line *line = (struct ml_progress_line *)progress;
    uint64_t now = line->on_terminal ? now_ns() : 0;

    if (!line->on_terminal || now < line->next_ns)
        return;
    line->next_ns = now + EVERY_NS;
    line->shown = true;
    if (total)
        fprintf(stderr, "\r%s: %.0f %%\033[K", line->what, 100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r%s: %" PRIu64 "\033[K", line->what, done);
}

void ml_progress_line_init(struct ml_progress_line *line, const char *what)
{
    const char *term = getenv("TERM");

    *line = (struct ml_progress_line){
        .progress.tell = tell,
        .what = what,
        .on_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
        .next_ns = now_ns() + FIRST_AFTER_NS,
    };
}

void ml_progress_line_end(struct ml_progress_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}
