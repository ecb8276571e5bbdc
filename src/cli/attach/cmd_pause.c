/* cmd_pause.c: `memledger pause` and `memledger resume`: switch a recording off and on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <time.h>

#include "compiler.h"
#include "nanoseconds.h"
#include "process_operand.h"
#include "recorded_session.h"
#include "say.h"
#include "verbs.h"

static uint64_t ticks_now(const struct ml_session *page)
{
    return page->clock == ML_CLOCK_TSC ? __builtin_ia32_rdtsc() : ml_clock_ns(CLOCK_MONOTONIC);
}

/* @return whether that changed anything */
static bool turn(struct ml_session *page, bool pause)
{
    uint32_t now = atomic_load(&page->turn);

    do {
        if ((now & 1) == pause)
            return false;
        atomic_store(&page->turned_ticks[pause], ticks_now(page));
    } while (!atomic_compare_exchange_strong(&page->turn, &now, now + 1));
    ml_recorded_session_ring(page);
    return true;
}

static int run(const struct ml_verb *verb, bool pause, int argc, char **argv)
{
    struct ml_recorded_session session;
    struct ml_error err = {0};
    char none; /* there are no options to set */
    bool changed;
    pid_t pid;
    int r = ml_process_operand(verb, &none, argc, argv, &pid);

    if (r >= 0)
        return r;
    if (ml_recorded_session_open(pid, true, &session, &err)) {
        ml_say("%s", err.text);
        return ML_EXIT_FAILURE;
    }
    changed = turn(session.page, pause);
    ml_recorded_session_release(&session);
    if (pause)
        ml_say("the recording of process %d %s paused; memledger resume %d continues it", (int)pid,
               changed ? "is" : "was already", (int)pid);
    else
        ml_say("the recording of process %d %s", (int)pid,
               changed ? "is resumed" : "was not paused");
    return ML_EXIT_OK;
}

static int cmd_pause(int argc, char **argv)
{
    return run(&ml_verb_pause, true, argc, argv);
}

static int cmd_resume(int argc, char **argv)
{
    return run(&ml_verb_resume, false, argc, argv);
}

const struct ml_verb ml_verb_pause = {
    .name = "pause",
    .summary = "pause a recording; the program goes on",
    .usage = "PID",
    .details = "PID is any process of the recording.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .run = cmd_pause,
};

const struct ml_verb ml_verb_resume = {
    .name = "resume",
    .summary = "resume a paused recording",
    .usage = "PID",
    .details = "PID is any process of the recording.",
    .group = ML_GROUP_RECORD,
    .operands = ML_OPERANDS_NONE,
    .run = cmd_resume,
};
