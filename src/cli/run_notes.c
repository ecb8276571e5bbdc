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
    uint64_t event_count = atomic_load(&page->events);
    uint32_t running = atomic_load(&page->running);

    if (!p->wanted || elapsed < QUIET_NS)
        return;
    fprintf(stderr, "\r\033[Kmemledger: %s, %s event%s, %s on disk, %u process%s\r",
            ml_format_duration_ns(time, elapsed), ml_format_count(events, (int64_t)event_count),
            event_count == 1 ? "" : "s",
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
        fprintf(stderr, "memledger: nothing was recorded: %s\n",
                result->cuda_injection
                    ? "the program never started CUDA, which --cuda=injection waits for"
                    : "the recorder could not start in the program; see ulimit -v and -n");
}

static void note_limits(const struct ml_session *page)
{
    uint64_t names = atomic_load(&page->names_folded), spaces = atomic_load(&page->spaces_refused);
    char count[32];

    if (spaces)
        fprintf(stderr,
                "memledger: %s space%s refused, and allocations in %s are missing: a process may "
                "open %u\n",
                ml_format_count(count, (int64_t)spaces), spaces == 1 ? " was" : "s were",
                spaces == 1 ? "it" : "them", ML_SPACE_MAX);
    if (names)
        fprintf(
            stderr, "memledger: %s name%s recorded as \"%s\": there was no room for more names\n",
            ml_format_count(count, (int64_t)names), names == 1 ? " was" : "s were", ML_OTHER_NAMES);
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
    note_limits(page);
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

/* How many samples a rate needs to mean something. */
#define RATE_TAKEN_MIN 50
#define RATE_SHARE_MIN 0.95

/* What could not be seen, and what was seen less often than asked. */
static void note_samples(const struct ml_session *page)
{
    char asked[32], achieved[32];

    if (page->gpus_unseen[0])
        fprintf(stderr, "memledger: no GPU was sampled: %s\n", page->gpus_unseen);
    if (page->sample_taken >= RATE_TAKEN_MIN &&
        page->sample_achieved_hz < RATE_SHARE_MIN * page->sample_pace_hz)
        fprintf(stderr,
                "memledger: sampled %s times a second instead of %s; the machine was busy\n",
                ml_format_count(achieved, (int64_t)page->sample_achieved_hz),
                ml_format_count(asked, page->sample_pace_hz));
}

/* "446 events of 1 process and 12 samples in x.mled (1.8 KiB)" */
static void note_contents(const struct ml_run_result *result, const struct ml_session *page)
{
    uint64_t events = atomic_load(&page->events), samples = atomic_load(&page->samples);
    uint32_t processes = atomic_load(&page->processes);
    char count[32], sample_count[32], bytes[32];

    fprintf(stderr, "memledger: %s event%s of %u process%s",
            ml_format_count(count, (int64_t)events), events == 1 ? "" : "s", processes,
            processes == 1 ? "" : "es");
    if (samples)
        fprintf(stderr, " and %s sample%s", ml_format_count(sample_count, (int64_t)samples),
                samples == 1 ? "" : "s");
    fprintf(stderr, " in %s (%s)\n", result->trace,
            ml_format_bytes(bytes, (int64_t)atomic_load(&page->file_bytes), ML_UNIT_AUTO));
}

void ml_run_note(const struct ml_run_result *result, const struct ml_session *page)
{
    bool silent = atomic_load(&page->events) <= atomic_load(&page->own_events);

    note_trouble(result, page);
    note_running(result, page);
    if (result->quiet)
        return;
    if (!result->collector_killed)
        note_contents(result, page);
    if (atomic_load(&page->processes) && silent && !result->heap && !result->sample_only)
        fprintf(stderr,
                "memledger: the program reported nothing by itself; --heap records malloc\n");
    note_samples(page);
    fprintf(stderr, "memledger: next: memledger summary %s\n", result->trace);
    if (atomic_load(&page->gpu_memory))
        fprintf(stderr, "memledger:   or: memledger ledger %s\n", result->trace);
}
