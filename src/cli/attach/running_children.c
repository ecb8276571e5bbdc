/* running_children.c: see running_children.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "running_children.h"

#include <stdbool.h>
#include <unistd.h>

#include "attach_checks.h"
#include "descendants.h"
#include "recorded_session.h"

static void add(void *context, uint32_t child)
{
    struct ml_running_children *c = context;

    if ((pid_t)child != getpid())
        (void)ml_vec_push(&c->pids, (pid_t)child);
}

static bool is_recorded(pid_t pid)
{
    struct ml_recorded_session session;
    struct ml_error unused;
    bool recorded = !ml_recorded_session_open(pid, false, &session, &unused);

    ml_recorded_session_release(&session);
    return recorded;
}

void ml_running_children_find(pid_t pid, struct ml_running_children *ret)
{
    size_t kept = 0;

    ml_children_of((uint32_t)pid, add, ret);
    for (size_t i = 0; i < ret->pids.len; i++)
        ml_children_of((uint32_t)ret->pids.items[i], add, ret);
    for (size_t i = 0; i < ret->pids.len; i++) {
        pid_t child = ret->pids.items[i];

        if (!ml_attach_has_ended(child) && !ml_attach_is_ancestor(child) && !is_recorded(child))
            ret->pids.items[kept++] = child;
    }
    ret->pids.len = kept;
}

void ml_running_children_release(struct ml_running_children *c)
{
    ml_vec_release(&c->pids);
}
