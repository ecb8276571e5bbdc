/* ended_processes.c: see ended_processes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ended_processes.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector_progress.h"
#include "ended_threads.h"
#include "killed_setting.h"
#include "lifetime_events.h"
#include "pauses.h"
#include "sandboxed.h"
#include "target_end.h"
#include "turn.h"

/* How often to check whether processes are still alive. */
#define FIND_DEAD_NS 2000000u

bool ml_collector_end_is_awaited(const struct ml_collector *c)
{
    struct ml_session *page = c->session->page;

    for (int i = 0; i < ML_SESSION_DEVICES; i++) {
        if (atomic_load_explicit(&page->devices[i].holder, memory_order_relaxed) &
            ML_TURN_WAITED_FOR)
            return true;
    }
    return false;
}

/* Processes that wait for a turn on a GPU, or for the end of a process that had memory there,
 * need not wait for the dead one. Not before its end is in the trace: their next readings are
 * balanced without its memory. */
static void end_turns(struct ml_session *page, const struct ml_target *t)
{
    for (int i = 0; i < ML_SESSION_DEVICES; i++) {
        struct ml_session_device *d = &page->devices[i];

        if (t->sets.len > 0)
            atomic_fetch_sub(&d->booked, atomic_load(&t->sets.items[0].shared->booked[i]));
        atomic_store_explicit(&d->last, 0, memory_order_relaxed);
        ml_turn_give_back(d, t->own_pid);
    }
}

static void check_alive(const struct ml_collector *c, struct ml_target *t)
{
    uint64_t now = ml_ticks_now(&c->ticks); /* before the check: it ran at this time if alive */

    if (t->dead)
        return;
    t->dead = !ml_target_running(t);
    if (t->dead)
        t->status = ml_target_kernel_status(t);
    else
        t->alive_ticks = now;
}

void ml_collector_find_dead(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++)
        check_alive(c, c->stage.targets.items[i]);
}

static bool any_is_ending(const struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];

        if (!t->dead && ml_target_is_ending(&c->stage, t))
            return true;
    }
    return false;
}

/* A process that says it exits may be dead by the time that was just read: its parent's next
 * records come after its end. */
bool ml_collector_is_time_to_find_dead(struct ml_collector *c)
{
    if (c->checked_ns && c->ticks.ns - c->looked_ns <= FIND_DEAD_NS &&
        !ml_collector_end_is_awaited(c) && !any_is_ending(c))
        return false;
    c->looked_ns = c->ticks.ns;
    return true;
}

/* Whether a hello of the same process waits: from a later image, or for more rings. */
static bool has_unanswered_hello(const struct ml_collector *c, const struct ml_target *t)
{
    for (size_t i = c->answered; i < c->hellos.len; i++) {
        if (c->hellos.items[i].pid == t->pid)
            return true;
    }
    return false;
}

/* The launcher learns how the program ended, shortly before or after we learn
 * that it did. */
static bool is_program(const struct ml_collector *c, const struct ml_target *t)
{
    return t->pid == atomic_load(&c->session->page->program_pid) && !t->replaced;
}

/* 1 + the status of waitpid(), 0 if it is unknown. An image that exec replaced has not ended the
 * process. */
static uint64_t wait_status(const struct ml_collector *c, const struct ml_target *t)
{
    const struct ml_session *page = c->session->page;

    if (is_program(c, t) && atomic_load(&page->program_ended))
        return 1 + (uint64_t)atomic_load(&page->program_status);
    return t->execed ? 0 : ml_target_exit_status(t);
}

/* Whether there is no launcher to wait for that may still report the status. */
static bool status_final(const struct ml_collector *c, const struct ml_target *t, uint64_t status)
{
    const struct ml_session *page = c->session->page;

    return status || !is_program(c, t) || atomic_load(&page->program_ended) ||
           atomic_load(&page->finish) || getppid() != c->launcher;
}

/* Whether the kernel has killed a process of this control group since the run began because the
 * group's limit was reached, and not the whole machine's memory. */
static bool killed_at_limit(const struct ml_collector *c)
{
    struct ml_cgroup_kills now = ml_cgroup_kills(c->groups, ML_CGROUP_MOUNTS);

    return now.kills > c->kills_before.kills && now.at_limit > c->kills_before.at_limit;
}

static void note_killed(struct ml_collector *c)
{
    uint64_t limit = ml_cgroup_limit_bytes(c->groups, ML_CGROUP_MOUNTS);
    char digits[24];

    atomic_fetch_add(&c->session->page->killed, 1);
    if (limit == UINT64_MAX || !killed_at_limit(c))
        return;
    atomic_store(&c->session->page->killed_at_limit, limit);
    snprintf(digits, sizeof(digits), "%" PRIu64, limit);
    ml_dict_config(&c->dict, ML_SETTING_KILLED_AT_LIMIT, digits);
}

/* For a command that has attached to the program and cannot wait for it. When it sees that the
 * program has ended, the rest is valid. */
static void publish_end(const struct ml_collector *c, uint64_t status)
{
    struct ml_session *page = c->session->page;

    atomic_store(&page->running, ml_collector_running(c));
    atomic_store(&page->program_status, status ? (uint32_t)(status - 1) : ML_STATUS_UNKNOWN);
    atomic_store(&page->program_ended, 1);
}

/* Everything from the process has been read, and its end is written.
 * @return whether it can be removed; else it stays for another round */
static bool remove_target(struct ml_collector *c, struct ml_target *t)
{
    uint64_t status;

    if (!ml_target_close_ended(&c->stage, t, false))
        return false;
    status = wait_status(c, t);
    if (!status_final(c, t, status))
        return false;
    ml_target_note_end(&c->stage, t, status);
    if (is_program(c, t) && getppid() != c->launcher)
        publish_end(c, status);
    if (status && WIFSIGNALED((int)(status - 1)) && WTERMSIG((int)(status - 1)) == SIGKILL)
        note_killed(c);
    end_turns(c->session->page, t);
    if (!t->replaced)
        ml_session_forget_spared(c->session->page, t->own_pid);
    ml_collector_forget_samples(c, t);
    ml_target_free(t);
    return true;
}

void ml_collector_mark_ended(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        if (!t->heard_out || t->gone || has_unanswered_hello(c, t))
            continue;
        t->gone = true;
        ml_target_find_end(&c->stage, t, ml_ticks_now(&c->ticks));
    }
}

/* The first to end among the gone, if that is before `until`; the number of targets: none. */
static size_t first_ended(const struct ml_collector *c, uint64_t until)
{
    size_t count = c->stage.targets.len, first = count;

    for (size_t i = 0; i < count; i++) {
        const struct ml_target *t = c->stage.targets.items[i];

        if (t->gone && !t->stays && t->end_ticks < until &&
            (first == count || t->end_ticks < c->stage.targets.items[first]->end_ticks))
            first = i;
    }
    return first;
}

bool ml_collector_end_is_due(const struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];

        if (t->gone && t->end_ticks >= c->ticks.ticks)
            return true;
    }
    return false;
}

/* The memory of the dead must be gone before later events are counted: a script's programs run one
 * after the other, not all at once, and a parent continues when its child has ended. */
void ml_collector_remove_ended(struct ml_collector *c, uint64_t until)
{
    size_t i;

    while ((i = first_ended(c, until)) < c->stage.targets.len) {
        struct ml_target *t = c->stage.targets.items[i];

        ml_collector_take_pauses(c, t->end_ticks + 1); /* they close blocks of its heap */
        ml_collector_take_records(c, t->end_ticks + 1);
        t->stays = true;
        if (!remove_target(c, t))
            continue;
        c->stage.targets.len--;
        for (; i < c->stage.targets.len; i++)
            c->stage.targets.items[i] = c->stage.targets.items[i + 1];
    }
}

/* Only records from before the new process's hello are taken: others may depend on a later hello.
 * A killed process is found late, and may have made room for the new one. */
void ml_collector_remove_ended_before(struct ml_collector *c, const struct ml_hello *hello)
{
    ml_collector_mark_ended(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        if (t->gone)
            ml_target_end_before(&c->stage, t, hello->clock);
    }
    ml_collector_remove_ended(c, ml_min_u64(c->ticks.ticks, hello->clock + 1));
}
