/* cmd_attach.c: `memledger attach` and `memledger detach`: record a process that already runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "attach_checks.h"
#include "attach_notes.h"
#include "attach_recording.h"
#include "compiler.h"
#include "injected_call.h"
#include "nanoseconds.h"
#include "output_name.h"
#include "process_operand.h"
#include "recorded_session.h"
#include "say.h"
#include "verbs.h"

#define LOOK_MS 50
#define ANSWER_NS UINT64_C(30000000000)

static const struct ml_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .offset = offsetof(struct ml_attach_opts, output),
     .value_name = "FILE",
     .help = "write to FILE; %p process id, %h host, %n program"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_attach_opts, force),
     .help = "overwrite an existing file"},
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_attach_opts, quiet),
     .help = "hide notes, but not errors"},
    {.name = "heap",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct ml_attach_opts, heap),
     .help = "record malloc too, from now on"},
    {.name = "for",
     .type = ML_OPT_DURATION,
     .no_env = true,
     .offset = offsetof(struct ml_attach_opts, for_ns),
     .value_name = "TIME",
     .help = "stop recording after TIME, such as 30s, 10m or 2h",
     .min = 1},
    {.name = "timeout",
     .type = ML_OPT_DURATION,
     .no_env = true,
     .offset = offsetof(struct ml_attach_opts, timeout_ns),
     .value_name = "TIME",
     .help = "give up if the process has not answered after TIME; default 30s",
     .min = 1},
};

/* ---- attach --------------------------------------------------------------------- */

/* The recording ends with the process, unless processes that it started are recorded, too. */
static void wait_for_end(pid_t pid, const struct ml_attach_opts *opts,
                         const struct ml_attach_recording *r, const sigset_t *signals)
{
    uint64_t end_ns = opts->for_ns ? ml_clock_ns(CLOCK_MONOTONIC) + opts->for_ns : UINT64_MAX;
    struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    const struct ml_session *page = r->shared.page;
    bool noted = opts->quiet;

    while (ml_attach_goes_on(r) && ml_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        if (sigtimedwait(signals, NULL, &look) > 0)
            return;
        if (!noted && atomic_load(&page->program_ended) && atomic_load(&page->running)) {
            ml_attach_note_left(pid, page);
            noted = true;
        }
    }
}

/* After exec the process has another program, without a recorder.
 * @return 0, or negative errno: the recorder stays switched on in the process */
static int end_recording(pid_t pid, struct ml_attach_recording *r, struct ml_error *err)
{
    char library[PATH_MAX];
    int result = 0;

    if (!ml_attach_goes_on(r))
        return 0;
    if (ml_injected_recorder(pid, library))
        result = ml_attach_end(pid, r->library, r->session_inside, err);
    else
        r->execed = !ml_attach_has_ended(pid);
    if (result && ml_attach_has_ended(pid))
        result = 0;
    ml_recorded_session_finish(r->shared.page);
    return result;
}

static int attach(pid_t pid, const struct ml_attach_opts *opts)
{
    static struct ml_attach_recording r;
    struct ml_error err = {0}, note;
    enum ml_attach_trace trace;
    sigset_t signals;
    int result;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (ml_attach_begin(pid, opts, &r, &err)) {
        ml_say("%s", err.text);
        ml_attach_release(&r);
        return ML_EXIT_FAILURE;
    }
    if (!opts->quiet)
        ml_say("recording process %d into %s; Ctrl-C or memledger detach %d ends it", (int)pid,
               r.trace, (int)pid);
    if (!opts->quiet)
        ml_attach_note_children(pid);
    if (!opts->quiet && ml_attach_check_proc(pid, &note))
        ml_say("%s", note.text);
    if (r.names == ML_ATTACHED_NAMES_LATER && !opts->quiet)
        ml_say("Python's main thread waits: existing tensors and names of modules follow when it "
               "goes on");
    if (r.names == ML_ATTACHED_NAMELESS && !opts->quiet)
        ml_say("the memledger package is not available to this Python: existing tensors and names "
               "of modules are not recorded");
    wait_for_end(pid, opts, &r, &signals);
    result = end_recording(pid, &r, &err);
    if (result)
        ml_say("%s", err.text);
    trace = ml_attach_finish(&r);
    ml_attach_note_end(pid, opts, &r, trace);
    ml_attach_release(&r);
    return result || trace == ML_ATTACH_CUT_OFF ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

static int cmd_attach(int argc, char **argv)
{
    struct ml_attach_opts opts = {.output = ML_OUTPUT_DEFAULT, .timeout_ns = ANSWER_NS};
    pid_t pid;
    int r = ml_process_operand(&ml_verb_attach, &opts, argc, argv, &pid);

    return r >= 0 ? r : attach(pid, &opts);
}

/* ---- detach ----------------------------------------------------------------------- */

static int cmd_detach(int argc, char **argv)
{
    char library[PATH_MAX], none;
    struct ml_recorded_session session;
    struct ml_error err = {0};
    pid_t pid;
    int r = ml_process_operand(&ml_verb_detach, &none, argc, argv, &pid);

    if (r >= 0)
        return r;
    r = ml_recorded_session_open(pid, false, &session, &err);
    ml_recorded_session_release(&session);
    if (!r && !ml_injected_recorder(pid, library))
        r = ml_attach_not_recording(pid, &err);
    if (!r)
        r = ml_attach_end(pid, library, session.folder, &err);
    if (r)
        ml_say("%s", err.text);
    else
        ml_say("the recording of process %d has ended", (int)pid);
    return r ? ML_EXIT_FAILURE : ML_EXIT_OK;
}

const struct ml_verb ml_verb_attach = {
    .name = "attach",
    .summary = "record a process that already runs",
    .usage = "[OPTION]... PID",
    .details = "Records until Ctrl-C, memledger detach, --for, or the end of the process.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = cmd_attach,
};

const struct ml_verb ml_verb_detach = {
    .name = "detach",
    .summary = "end the recording of memledger attach",
    .usage = "PID",
    .details = "The process goes on.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .run = cmd_detach,
};
