/* hellos.c: see hellos.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hellos.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ended_processes.h"
#include "passed_descriptor.h"
#include "target_end.h"

/* The most checks for dead processes in one round: each hello causes one. */
#define CHECKS_AT_ONCE 8

static bool receive(int socket, struct ml_received_hello *got)
{
    struct iovec body = {&got->hello, sizeof(got->hello)};
    alignas(struct cmsghdr) char
        control[2 * CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct msghdr msg = {.msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

    if (n < 0)
        return false;
    got->fd = got->pidfd = -1;
    got->pid = got->hello.pid;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        ml_passed_descriptor(c, &got->fd);
        ml_passed_pidfd(c, &got->pidfd);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&got->pid, CMSG_DATA(c), sizeof(pid_t));
    }
    if (n != (ssize_t)sizeof(got->hello) || got->hello.magic != ML_SHARED_MAGIC ||
        got->hello.version != ML_SHARED_VERSION)
        got->hello.magic = 0;
    return true;
}

struct ml_target *ml_collector_find_target(const struct ml_collector *c, uint32_t pid)
{
    for (size_t i = c->stage.targets.len; i-- > 0;) {
        if (c->stage.targets.items[i]->pid == pid)
            return c->stage.targets.items[i];
    }
    return NULL;
}

/* The number of the newest process with that pid, gone or not; -1: none. */
static int64_t find_process(const struct ml_collector *c, uint32_t pid)
{
    for (size_t i = c->dict.by_tag[ML_DEF_PROCESS].len; i-- > 0;) {
        if (c->dict.by_tag[ML_DEF_PROCESS].items[i].fields[ML_PROCESS_PID] == pid)
            return (int64_t)i;
    }
    return -1;
}

/* The process that the hello names as its parent; -1: it is not recorded. In another pid namespace
 * processes have other numbers, and only those that are still there are known by them. */
static int64_t find_parent(const struct ml_collector *c, const struct ml_received_hello *got)
{
    if (got->hello.pid == got->pid)
        return find_process(c, got->hello.parent_pid);
    for (size_t i = c->stage.targets.len; i-- > 0;) {
        const struct ml_target *t = c->stage.targets.items[i];
        if (t->foreign && t->own_pid == got->hello.parent_pid)
            return (int64_t)t->process;
    }
    return -1;
}

/* A known pid that says hello again has called exec: its old rings are final.
 * If it says that it was forked, the kernel has reused the pid. */
struct ml_target *ml_collector_add_target(struct ml_collector *c, struct ml_received_hello *got)
{
    bool forked = got->hello.how == ML_FORKED;
    struct ml_target *before = ml_collector_find_target(c, got->pid);
    bool execed = before && !before->gone && !forked;
    int64_t parent = execed ? (int64_t)before->process : find_parent(c, got);
    uint32_t how = forked ? ML_FORKED : execed ? ML_EXECED : ML_STARTED;
    uint64_t start_ns = ml_ticks_ns(&c->ticks, got->hello.clock);
    struct ml_target *t;

    if (before) {
        if (!before->gone)
            ml_target_end_at(before, got->hello.clock, start_ns);
        before->gone = before->replaced = true;
        before->execed = execed;
        ml_collector_forget_samples(c, before);
    }
    t = ml_target_new(&got->hello, got->pid, parent, how, start_ns, &c->dict);
    if (t)
        ml_target_watch(t, &got->pidfd);
    if (t && ml_vec_push(&c->stage.targets, t)) {
        ml_target_free(t);
        return NULL;
    }
    if (t && !execed)
        atomic_fetch_add(&c->session->page->processes, 1);
    if (t && c->sampler)
        ml_sampler_watch(c->sampler, t->pid, t->process);
    return t;
}

static void answer(struct ml_collector *c, struct ml_received_hello *got)
{
    struct ml_target *t = NULL;

    if (!got->hello.set)
        ml_collector_remove_ended_before(c, &got->hello);
    if (got->fd >= 0)
        t = got->hello.set ? ml_collector_find_target(c, got->pid)
                           : ml_collector_add_target(c, got);
    if (t && !ml_target_add_set(t, got->fd))
        return;
    /* No memory or descriptors left. The set's owner sees that we continue without it. */
    if (!got->hello.set)
        atomic_fetch_add(&c->session->page->unrecorded, 1);
}

static void close_received(const struct ml_received_hello *got)
{
    if (got->fd >= 0)
        close(got->fd);
    if (got->pidfd >= 0)
        close(got->pidfd);
}

static bool receive_one(struct ml_collector *c)
{
    struct ml_received_hello got = {.pidfd = -1};

    if (!receive(c->session->socket, &got) &&
        !ml_handed_take_hello(&c->handed, c->session->page->key, &got.hello, &got.pid, &got.fd))
        return false;
    if (!got.hello.magic || ml_vec_push(&c->hellos, got))
        close_received(&got);
    return true;
}

/* @return whether there were any */
static bool receive_all(struct ml_collector *c)
{
    bool any = false;

    while (receive_one(c))
        any = true;
    return any;
}

static void answer_all(struct ml_collector *c)
{
    for (; c->answered < c->hellos.len; c->answered++) {
        ml_stage_beat(&c->stage); /* a hundred at once take a while */
        answer(c, &c->hellos.items[c->answered]);
        close_received(&c->hellos.items[c->answered]);
    }
    ml_vec_clear(&c->hellos);
    c->answered = 0;
}

/* The dead are found before the last hello is read, so that all their messages are
 * among those read; after each hello, so that a process that ended before the hello was sent is
 * known to be dead; and once more when hellos are answered, since their senders may have ended,
 * too. */
void ml_collector_accept_hellos(struct ml_collector *c)
{
    bool find_dead = ml_collector_is_time_to_find_dead(c);

    for (int i = 0; i < CHECKS_AT_ONCE; i++) {
        if (find_dead || i)
            ml_collector_find_dead(c);
        if (receive_all(c) && i + 1 < CHECKS_AT_ONCE)
            continue;
        for (size_t k = 0; k < c->stage.targets.len; k++)
            c->stage.targets.items[k]->heard_out = c->stage.targets.items[k]->dead;
        if (!c->hellos.len)
            break;
        answer_all(c);
    }
    ml_collector_mark_ended(c);
}
