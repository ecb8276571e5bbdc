/* attach_notes.c: see attach_notes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "attach_notes.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "run_notes.h"
#include "running_children.h"
#include "say.h"

#define END_ROOM 128
#define LISTED_MAX 8

/* "process 4711 ended with exit code 1" */
static void describe_end(pid_t pid, const struct ml_session *page, char ret[END_ROOM])
{
    int status = (int)atomic_load(&page->program_status);

    if (WIFEXITED(status))
        snprintf(ret, END_ROOM, "process %d ended with exit code %d", (int)pid,
                 WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        snprintf(ret, END_ROOM, "signal %d (%s) ended process %d", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), (int)pid);
    else
        snprintf(ret, END_ROOM, "process %d ended; its exit code is not known", (int)pid);
}

void ml_attach_note_children(pid_t pid)
{
    struct ml_running_children children = {0};
    struct ml_buf list = {0};
    size_t count;

    ml_running_children_find(pid, &children);
    count = children.pids.len;
    for (size_t i = 0; i < count && i < LISTED_MAX; i++)
        ml_buf_printf(&list, " %d", (int)children.pids.items[i]);
    if (count)
        ml_say("%zu child process%s started before the attach %s not recorded; attach to each:%s%s",
               count, count == 1 ? "" : "es", count == 1 ? "is" : "are",
               list.data ? (const char *)list.data : "", count > LISTED_MAX ? " ..." : "");
    ml_buf_release(&list);
    ml_running_children_release(&children);
}

void ml_attach_note_left(pid_t pid, const struct ml_session *page)
{
    uint32_t left = atomic_load(&page->running);
    char end[END_ROOM];

    describe_end(pid, page, end);
    ml_say("%s; %u process%s that it started %s still recorded; Ctrl-C ends the recording", end,
           left, left == 1 ? "" : "es", left == 1 ? "is" : "are");
}

/* The closing note reports signals. */
static void note_process(pid_t pid, const struct ml_attach_recording *r)
{
    const struct ml_session *page = r->shared.page;
    char end[END_ROOM];

    describe_end(pid, page, end);
    if (r->execed)
        ml_say("process %d has started another program in its place (exec), which was not recorded",
               (int)pid);
    else if (!atomic_load(&page->program_ended))
        ml_say("process %d goes on and is no longer recorded", (int)pid);
    else if (!WIFSIGNALED((int)atomic_load(&page->program_status)))
        ml_say("%s", end);
}

void ml_attach_note_end(pid_t pid, const struct ml_attach_opts *opts,
                        const struct ml_attach_recording *r, enum ml_attach_trace trace)
{
    struct ml_run_result result = {
        .trace = r->trace,
        .program = "",
        .session_dir = r->session_inside,
        .attached = pid,
        .quiet = opts->quiet,
        .heap = opts->heap,
        .collector_killed = trace == ML_ATTACH_CUT_OFF,
        .collector_left = trace == ML_ATTACH_UNFINISHED ? r->collector : 0,
    };

    if (!opts->quiet && trace == ML_ATTACH_COMPLETE)
        note_process(pid, r);
    ml_run_note(&result, r->shared.page);
}
