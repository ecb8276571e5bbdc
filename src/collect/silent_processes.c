/* silent_processes.c: see silent_processes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "silent_processes.h"

#include <stdio.h>

#include "command_line.h"
#include "descendants.h"
#include "hellos.h"

void ml_collector_add_silent(struct ml_collector *c, uint32_t pid, uint32_t parent_pid,
                             uint32_t how, const char *command)
{
    struct ml_received_hello got = {.pid = pid, .fd = -1, .pidfd = -1};

    got.hello = (struct ml_hello){
        .pid = pid, .parent_pid = parent_pid, .how = how, .clock = c->ticks.ticks};
    snprintf(got.hello.command, sizeof(got.hello.command), "%s", command);
    ml_collector_add_target(c, &got);
}

/* Whether it is the copy of a process that has ended, see exit_copy.c. */
static bool is_copy(const struct ml_collector *c, uint32_t pid)
{
    const struct ml_session_copy *copies = c->session->page->copies;

    for (size_t i = 0; i < ML_SESSION_COPIES; i++)
        if (atomic_load_explicit(&copies[i].pid, memory_order_relaxed) == pid)
            return true;
    return false;
}

struct family {
    struct ml_collector *c;
    uint32_t parent_pid;
};

static void add_child(void *ctx, uint32_t pid)
{
    const struct family *f = ctx;
    char command[sizeof(((struct ml_hello *)0)->command)];

    if (ml_collector_find_target(f->c, pid) || is_copy(f->c, pid))
        return;
    ml_command_line_of(pid, command, sizeof(command));
    /* A zombie has no command line. */
    if (*command)
        ml_collector_add_silent(f->c, pid, f->parent_pid, ML_FORKED, command);
}

/* Children that are found meanwhile are visited in the same loop. */
void ml_collector_find_children(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];
        if (!t->dead && !t->gone)
            ml_children_of(t->pid, add_child, &(struct family){c, t->pid});
    }
}

static void count_if_silent(void *ctx, uint32_t pid)
{
    struct ml_collector *c = ctx;

    c->silent += !ml_collector_find_target(c, pid) && !is_copy(c, pid);
}

void ml_collector_count_silent(struct ml_collector *c)
{
    char variable[sizeof(ML_SESSION_ENV "=") + ML_SESSION_PATH_ROOM];

    snprintf(variable, sizeof(variable), ML_SESSION_ENV "=%s", c->session->path);
    c->silent = 0;
    ml_processes_with(variable, count_if_silent, c);
}
