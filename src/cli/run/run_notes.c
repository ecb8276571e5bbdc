/* run_notes.c: see run_notes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_notes.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler.h"
#include "nanoseconds.h"
#include "ring.h"
#include "say.h"
#include "shell_word.h"
#include "text.h"

#define QUIET_NS 2000000000u

void ml_run_progress_init(struct ml_run_progress *p)
{
    *p = (struct ml_run_progress){
        .start_ns = ml_clock_ns(CLOCK_MONOTONIC),
        .wanted = isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp(),
    };
}

/* Ends with a carriage return: the program's next output starts at the left
 * margin and overwrites the line. */
void ml_run_progress_show(struct ml_run_progress *p, const struct ml_session *page)
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

void ml_run_progress_clear(struct ml_run_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

/* Processes with a recorder that could not reach the collector. */
static void note_unreached(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t uid = atomic_load(&page->unreached_uid);
    const struct passwd *user = uid == geteuid() ? NULL : getpwuid(uid);
    char number[16];

    snprintf(number, sizeof(number), "%u", uid);
    if (atomic_load(&page->unreached_errno) == ENOENT)
        ml_say("processes that cannot see %s, as in a chroot or container, were not "
               "recorded; start memledger inside it",
               result->session_dir);
    else if (uid == geteuid())
        ml_say("processes that may not use %s were not recorded; check whether AppArmor "
               "or SELinux forbids it",
               result->session_dir);
    else
        ml_say("processes of user %s were not recorded: only the user who starts a "
               "recording can reach it; start memledger as that user",
               user ? user->pw_name : number);
}

/* Why nothing was recorded, if no process reported it. */
static void note_nothing(const struct ml_run_result *result, const struct ml_session *page)
{
    int status = (int)atomic_load(&page->program_status);

    if (WIFSIGNALED(status))
        ml_say("nothing was recorded: signal %d (%s) ended the program before the recorder started",
               WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (result->cuda_injection)
        ml_say("nothing was recorded: the program never started CUDA, which --cuda=injection "
               "waits for");
    else
        ml_say("nothing was recorded: the recorder could not start in the program; see ulimit -v "
               "and -n");
}

static void note_unrecorded(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t unrecorded = atomic_load(&page->unrecorded);

    if (atomic_load(&page->unreached))
        note_unreached(result, page);
    if (unrecorded)
        ml_say("%u process%s not recorded: no room for the recorder's buffers; see "
               "ulimit -v, -f and -n, or try --ring-size 64KiB",
               unrecorded, unrecorded == 1 ? " was" : "es were");
    else if (!atomic_load(&page->processes) && !atomic_load(&page->unreached) &&
             !atomic_load(&page->began_in_sandbox) && !result->obstacle &&
             !result->collector_killed)
        note_nothing(result, page);
}

static void note_entered_sandbox(const struct ml_session *page)
{
    uint32_t entered = atomic_load(&page->entered_sandbox);

    if (entered)
        ml_say("%u process%s entered a seccomp sandbox, where the recorder makes no "
               "system calls and may lose events",
               entered, entered == 1 ? "" : "es");
}

static void note_began_in_sandbox(const struct ml_session *page)
{
    uint32_t began = atomic_load(&page->began_in_sandbox);

    if (began)
        ml_say("%u process%s not recorded: started in a sandbox (a seccomp filter, or "
               "no /proc)",
               began, began == 1 ? " was" : "es were");
}

/* Stacks, and what else describes a block. */
static void note_details(const struct ml_session *page)
{
    uint64_t details = atomic_load(&page->details_lost);
    char count[32];

    if (details)
        ml_say("%s stack%s not recorded: there was no room for more",
               ml_format_count(count, (int64_t)details),
               details == 1 ? ", library, scope or label was"
                            : "s, libraries, scopes or labels were");
}

/* Events, and blocks whose later events are missing. */
static void note_lost(const struct ml_session *page)
{
    uint64_t lost = atomic_load(&page->lost), blocks = atomic_load(&page->not_followed);
    uint64_t events = lost - ml_min_u64(blocks, lost);
    char count[32];

    if (events)
        ml_say("%s event%s lost", ml_format_count(count, (int64_t)events),
               events == 1 ? " was" : "s were");
    if (blocks)
        ml_say("%s block%s not followed to %s end: the recorder's table was full or locked",
               ml_format_count(count, (int64_t)blocks),
               blocks == 1 ? " or object was" : "s and objects were",
               blocks == 1 ? "its" : "their");
}

static void note_limits(const struct ml_session *page)
{
    uint64_t names = atomic_load(&page->names_folded), spaces = atomic_load(&page->spaces_refused);
    char count[32];

    if (spaces)
        ml_say("%s space%s refused, and allocations in %s are missing: a process may "
               "open %u",
               ml_format_count(count, (int64_t)spaces), spaces == 1 ? " was" : "s were",
               spaces == 1 ? "it" : "them", ML_SPACE_MAX);
    if (names)
        ml_say("%s name%s recorded as \"%s\": there was no room for more names",
               ml_format_count(count, (int64_t)names), names == 1 ? " was" : "s were",
               ML_OTHER_NAMES);
    note_details(page);
}

/* Copies of the recording so far. */
static void note_saves(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t saves = atomic_load(&page->saves), failed = atomic_load(&page->saves_failed);

    if (saves && !result->quiet)
        ml_say("%u cop%s of the recording so far %s saved beside %s", saves,
               saves == 1 ? "y" : "ies", saves == 1 ? "was" : "were", result->trace);
    if (failed)
        ml_say("%u cop%s of the recording could not be saved beside %s", failed,
               failed == 1 ? "y" : "ies", result->trace);
}

static void note_trouble(const struct ml_run_result *result, const struct ml_session *page)
{
    int write_error = atomic_load(&page->write_error);

    if (result->collector_killed)
        ml_say("the collector was killed; %s holds what it had written until then", result->trace);
    if (write_error == EFBIG && result->keeps_part)
        ml_say("%s stops early: its names and live blocks alone fill what --keep allows; "
               "give --keep at least twice the size",
               result->trace);
    else if (write_error)
        ml_say("%s could not be written to its end: %s", result->trace, strerror(write_error));
    note_lost(page);
    note_limits(page);
    note_unrecorded(result, page);
    note_began_in_sandbox(page);
}

/* Children that were not waited for. */
static void note_running(const struct ml_run_result *result, const struct ml_session *page)
{
    uint32_t running = atomic_load(&page->running);

    if (running && !result->collector_killed && !result->attached)
        ml_say("%u process%s still running, not recorded from here on; --wait waits", running,
               running == 1 ? " is" : "es are");
}

/* The least number of samples for a meaningful rate. */
#define RATE_TAKEN_MIN 50
#define RATE_SHARE_MIN 0.95

/* Reports GPUs that could not be sampled, and a lower rate than requested. */
static void note_samples(const struct ml_session *page)
{
    char asked[32], achieved[32];

    if (page->gpus_unseen[0])
        ml_say("no GPU was sampled: %.*s", (int)sizeof(page->gpus_unseen) - 1, page->gpus_unseen);
    if (page->sample_taken >= RATE_TAKEN_MIN &&
        page->sample_achieved_hz < RATE_SHARE_MIN * page->sample_pace_hz)
        ml_say("sampled %s times a second instead of %s; the machine was busy",
               ml_format_count(achieved, (int64_t)page->sample_achieved_hz),
               ml_format_count(asked, page->sample_pace_hz));
}

/* "446 events of 1 process and 12 samples in x.mled (1.8 KiB)" */
static void note_contents(const struct ml_run_result *result, const struct ml_session *page)
{
    uint64_t events = atomic_load(&page->events), samples = atomic_load(&page->samples);
    uint32_t processes = atomic_load(&page->processes);
    char count[32], sample_count[32], bytes[32], sampled[64] = "";

    if (samples)
        snprintf(sampled, sizeof(sampled), " and %s sample%s",
                 ml_format_count(sample_count, (int64_t)samples), samples == 1 ? "" : "s");
    ml_say("%s event%s of %u process%s%s%s in %s (%s)", ml_format_count(count, (int64_t)events),
           events == 1 ? "" : "s", processes, processes == 1 ? "" : "es", sampled,
           result->keeps_part ? ", the last of them" : "", result->trace,
           ml_format_bytes(bytes, (int64_t)atomic_load(&page->file_bytes), ML_UNIT_AUTO));
}

/* Programs that start another one where the recorder does not follow: as another user,
 * in a container, on another machine, or without the variables that load it. */
static bool starts_elsewhere(const char *program)
{
    static const char *const names[] = {"sudo",   "su",     "doas",        "runuser",    "pkexec",
                                        "docker", "podman", "singularity", "apptainer",  "bwrap",
                                        "chroot", "ssh",    "firejail",    "systemd-run"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        if (!strcmp(program, names[i]))
            return true;
    }
    return false;
}

/* Reports programs whose memory is missing. */
static void note_silence(const struct ml_run_result *result, const struct ml_session *page)
{
    bool silent = atomic_load(&page->events) <= atomic_load(&page->own_events);
    uint32_t processes = atomic_load(&page->processes);

    if (!processes || atomic_load(&page->unreached))
        return;
    if (starts_elsewhere(result->program) && (silent || processes == 1))
        ml_say("only %s was recorded, not what it starts; put memledger after it: "
               "%s ... memledger run PROGRAM",
               result->program, result->program);
    else if (silent && !result->heap)
        ml_say("the program reported nothing by itself; --heap records malloc");
}

/* Reports a signal or a refused allocation in one line. */
static void note_end(const struct ml_run_result *result, const struct ml_session *page,
                     const char *trace)
{
    int status = (int)atomic_load(&page->program_status);
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool refused = atomic_load(&page->refusals);
    uint32_t killed = atomic_load(&page->killed);
    uint64_t limit = atomic_load(&page->killed_at_limit);
    char ended[128] = "", program[32] = "the program", bytes[32];

    if (result->attached)
        snprintf(program, sizeof(program), "process %d", (int)result->attached);
    if (signal)
        snprintf(ended, sizeof(ended), "signal %d (%s) ended %s", signal, strsignal(signal),
                 program);
    else if (killed)
        snprintf(ended, sizeof(ended), "%u process%s killed by signal 9", killed,
                 killed == 1 ? " was" : "es were");
    if (refused)
        ml_say("memory was refused%s%s: memledger oom %s says why", *ended ? ", and " : "", ended,
               trace);
    else if (limit && (killed || signal == SIGKILL))
        ml_say("%s: its control group reached its memory limit of %s: memledger oom %s", ended,
               ml_format_bytes(bytes, (int64_t)limit, ML_UNIT_AUTO), trace);
    else if (killed || signal == SIGKILL)
        ml_say("%s, as when the machine is out of memory: memledger oom %s", ended, trace);
    else if (signal)
        ml_say("%s", ended);
}

/* The next commands. @trace  quoted for a shell */
static void note_next(const struct ml_run_result *result, const struct ml_session *page,
                      const char *trace)
{
    if (!result->sample_only)
        note_silence(result, page);
    note_samples(page);
    note_entered_sandbox(page);
    note_end(result, page, trace);
    ml_say("next: memledger summary %s", trace);
    if (atomic_load(&page->gpu_memory))
        ml_say("  or: memledger ledger %s", trace);
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) && errno == ENOENT;
}

void ml_run_note(const struct ml_run_result *result, const struct ml_session *page)
{
    struct ml_buf word = {0};

    if (result->collector_left) {
        ml_say("process %d continues to write %s; the part written so far can be read",
               (int)result->collector_left, result->trace);
        return;
    }
    note_trouble(result, page);
    note_running(result, page);
    note_saves(result, page);
    if (is_missing(result->trace)) {
        ml_say("%s was removed during the run: there is no trace to read", result->trace);
        return;
    }
    if (result->quiet)
        return;
    if (!result->collector_killed)
        note_contents(result, page);
    note_next(result, page, ml_shell_word(&word, result->trace));
    ml_buf_release(&word);
}
