/* run_notes.c: the progress line and closing note of `memledger run`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_notes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nanoseconds.h"
#include "text.h"

#define QUIET_NS 2000000000u

void ml_progress_init(struct ml_progress *p)
{
    *p = (struct ml_progress){
        .start_ns = ml_clock_ns(CLOCK_MONOTONIC),
        .wanted = isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp(),
    };
}

/* Ends with a carriage return: what the program prints next starts at the left
 * margin and covers the line. */
void ml_progress_show(struct ml_progress *p, const struct ml_session *page)
{
    char time[32], events[32], bytes[32];
    uint64_t elapsed = ml_clock_ns(CLOCK_MONOTONIC) - p->start_ns;
    uint32_t running = atomic_load(&page->running);

    if (!p->wanted || elapsed < QUIET_NS)
        return;
    fprintf(stderr, "\r\033[Kmemledger: %s, %s events, %s on disk, %u process%s\r",
            ml_format_duration_ns(time, elapsed),
            ml_format_count(events, (int64_t)atomic_load(&page->events)),
            ml_format_bytes(bytes, (int64_t)atomic_load(&page->file_bytes), ML_UNIT_AUTO), running,
            running == 1 ? "" : "es");
    p->shown = true;
}

void ml_progress_clear(struct ml_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

static void note_unrecorded(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t unrecorded = atomic_load(&page->unrecorded);

    if (unrecorded)
        fprintf(stderr,
                "memledger: %u process%s not recorded: no room for the recorder's buffers; see "
                "ulimit -v, -f and -n\n",
                unrecorded, unrecorded == 1 ? " was" : "es were");
    else if (!atomic_load(&page->processes) && !result->obstacle && !result->collector_killed)
        fprintf(stderr, "memledger: nothing was recorded: the recorder could not start in the "
                        "program; see ulimit -v and -n\n");
}

static void note_trouble(const struct ml_run_result *result, const struct ml_session *page)
{
    int write_error = atomic_load(&page->write_error);
    uint64_t lost = atomic_load(&page->lost);
    char count[32];

    if (result->collector_killed)
        fprintf(stderr,
                "memledger: the collector was killed; %s holds what it had written until then\n",
                result->trace);
    if (write_error)
        fprintf(stderr, "memledger: %s could not be written to its end: %s\n", result->trace,
                strerror(write_error));
    if (lost)
        fprintf(stderr, "memledger: %s event%s lost\n", ml_format_count(count, (int64_t)lost),
                lost == 1 ? " was" : "s were");
    note_unrecorded(result, page);
}

/* Whose children were not waited for. */
static void note_running(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t running = atomic_load(&page->running);

    if (running && !result->collector_killed)
        fprintf(stderr,
                "memledger: %u process%s still running, not recorded from here on; --wait waits\n",
                running, running == 1 ? " is" : "es are");
}

void ml_run_note(const struct ml_run_result *result, const struct ml_session *page)
{
    uint64_t events = atomic_load(&page->events);
    uint32_t processes = atomic_load(&page->processes);
    char count[32], bytes[32];

    note_trouble(result, page);
    note_running(result, page);
    if (result->quiet)
        return;
    if (!result->collector_killed)
        fprintf(stderr, "memledger: %s event%s of %u process%s in %s (%s)\n",
                ml_format_count(count, (int64_t)events), events == 1 ? "" : "s", processes,
                processes == 1 ? "" : "es", result->trace,
                ml_format_bytes(bytes, (int64_t)atomic_load(&page->file_bytes), ML_UNIT_AUTO));
    if (processes && events <= atomic_load(&page->own_events) && !result->heap)
        fprintf(stderr,
                "memledger: the program reported nothing by itself; --heap records malloc\n");
    fprintf(stderr, "memledger: next: memledger summary %s\n", result->trace);
}
