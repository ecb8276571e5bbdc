/* collector.c: the collector's loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"
#include "cuda_spaces.h"
#include "descendants.h"
#include "file_lock.h"
#include "handed_files.h"
#include "left_alone.h"
#include "merge.h"
#include "nanoseconds.h"
#include "passed_descriptor.h"
#include "proc_stat.h"
#include "sampler.h"
#include "sandboxed.h"
#include "symbols.h"
#include "target_end.h"
#include "turn.h"

/* How long to sleep after a pass that found little: rings that fill wake us, so
 * this only bounds the delay of a trickle of events. A training step fills no ring;
 * a pass every millisecond took the collector two thirds more time than this. */
#define IDLE_NS_MIN 10000000u
#define IDLE_NS_MAX 50000000u
/* A partly filled block is written after this long, so that little is lost if
 * we are killed. */
#define SAVE_NS 1000000000u
/* How often to check whether threads, and processes, are still alive. */
#define CHECK_NS 100000000u
#define LOOK_NS 2000000u
/* How often at most in one round: each hello causes a check. */
#define LOOKS_AT_ONCE 8
/* The longest sleep while a process is in a sandbox, where full rings cannot wake us; the second
 * applies once its rings have been quiet for a while. Its threads wait longer than that. */
#define SANDBOX_NS_MIN 1000000u
#define SANDBOX_NS_MAX 10000000u
/* Processes checked for a sandbox at a time. */
#define SANDBOXES_AT_ONCE 64

/* A received hello. */
struct greeting {
    struct ml_hello hello;
    uint32_t pid; /* in the collector's pid namespace */
    int fd;       /* of the ring set, -1: none was sent */
    int pidfd;    /* -1: none was sent */
};

struct ml_collector {
    struct ml_session_dir *session;
    ML_VEC(struct greeting) greetings; /* read, in order … */
    size_t greeted;                    /* … and answered so far */
    struct ml_dict dict;
    struct ml_trace_writer writer;
    struct ml_ticks ticks;
    struct ml_stage stage;
    struct ml_handed_files handed;
    struct ml_merge merge;
    uint64_t saved_ns;
    uint64_t checked_ns, looked_ns;
    uint64_t words;      /* read in this round */
    size_t sandbox_next; /* the next target to check for a sandbox */
    uint64_t idle_ns;
    uint64_t sandbox_ns;    /* the same for processes in a sandbox */
    uint64_t sandbox_words; /* read from their rings when the last round began */
    uint32_t bell;          /* the doorbell when the last round began */
    uint32_t notices_kept;  /* notices that processes printed on stderr, already in the trace */
    pid_t launcher;
    int program_fd;  /* -1: it is gone, or the kernel has no such descriptors */
    uint32_t silent; /* processes that ran at the end and had not said hello */
    const char *command;
    uint32_t sample_hz;
    bool sample_only;
    struct ml_sampler *sampler; /* NULL: none */
};

int ml_collector_new(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                     const struct ml_ticks *ticks, struct ml_collector **ret, struct ml_error *err)
{
    struct ml_collector *c = calloc(1, sizeof(*c));
    int r;

    if (!c || ml_dict_init(&c->dict)) {
        free(c);
        return ml_error_set(err, -ENOMEM, "not enough memory");
    }
    c->session = session;
    c->launcher = opts->launcher;
    c->command = opts->command;
    c->sample_hz = opts->sample_hz;
    c->sample_only = opts->sample_only;
    atomic_store(&session->page->program_pid, (uint32_t)opts->program);
    c->program_fd = opts->program ? (int)syscall(SYS_pidfd_open, opts->program, 0) : -1;
    c->ticks = *ticks;
    ml_ticks_read(&c->ticks);
    c->stage.start_wall_ns = ml_clock_ns(CLOCK_REALTIME) - c->ticks.ns;
    r = ml_trace_writer_open(&c->writer, opts->path, opts->force, c->stage.start_wall_ns, &c->dict,
                             err);
    if (r) {
        ml_collector_free(c);
        return r;
    }
    c->writer.thread_id = &session->page->collector.threads[1];
    for (const struct ml_setting *s = opts->settings; s && s->key; s++)
        ml_dict_config(&c->dict, s->key, s->value);
    c->stage.heartbeat = &session->page->heartbeat;
    c->idle_ns = IDLE_NS_MIN;
    c->sandbox_ns = SANDBOX_NS_MIN;
    c->stage.dict = &c->dict;
    c->stage.writer = &c->writer;
    c->stage.ticks = &c->ticks;
    ml_handed_init(&c->handed, session->files);
    c->stage.handed = &c->handed;
    *ret = c;
    return 0;
}

void ml_collector_free(struct ml_collector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->stage.targets.len; i++)
        ml_target_free(c->stage.targets.items[i]);
    ml_vec_release(&c->stage.targets);
    ml_vec_release(&c->stage.own);
    ml_sampler_free(c->sampler);
    ml_merge_release(&c->merge);
    ml_handed_release(&c->handed);
    ml_vec_release(&c->greetings);
    if (c->program_fd >= 0)
        close(c->program_fd);
    ml_dict_release(&c->dict);
    free(c);
}

void ml_collector_sign(struct ml_collector *c)
{
    ml_file_lock_sign(c->writer.fd);
}

void ml_collector_discard(struct ml_collector *c)
{
    ml_trace_writer_discard(&c->writer);
    ml_collector_free(c);
}

/* ---- Hello -------------------------------------------------------------- */

static bool receive(int socket, struct greeting *g)
{
    struct iovec body = {&g->hello, sizeof(g->hello)};
    alignas(struct cmsghdr) char
        control[2 * CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct msghdr msg = {.msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

    if (n < 0)
        return false;
    g->fd = g->pidfd = -1;
    g->pid = g->hello.pid;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        ml_passed_descriptor(c, &g->fd);
        ml_passed_pidfd(c, &g->pidfd);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&g->pid, CMSG_DATA(c), sizeof(pid_t));
    }
    if (n != (ssize_t)sizeof(g->hello) || g->hello.magic != ML_SHARED_MAGIC ||
        g->hello.version != ML_SHARED_VERSION)
        g->hello.magic = 0;
    return true;
}

/* The newest target with that pid. */
static struct ml_target *find_target(const struct ml_collector *c, uint32_t pid)
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

static void forget_samples(struct ml_collector *c, const struct ml_target *t)
{
    if (c->sampler)
        ml_sampler_forget(c->sampler, t->pid, t->process);
}

/* A known pid that says hello again has called exec: its old rings are final.
 * If it says that it was forked, the kernel has reused the pid. */
static struct ml_target *new_target(struct ml_collector *c, struct greeting *g)
{
    bool forked = g->hello.how == ML_FORKED;
    struct ml_target *before = find_target(c, g->pid);
    bool execed = before && !before->gone && !forked;
    int64_t parent = execed ? (int64_t)before->process : find_process(c, g->hello.parent_pid);
    uint32_t how = forked ? ML_FORKED : execed ? ML_EXECED : ML_STARTED;
    uint64_t start_ns = ml_ticks_ns(&c->ticks, g->hello.clock);
    struct ml_target *t;

    if (before) {
        if (!before->gone)
            ml_target_end_at(before, g->hello.clock, start_ns);
        before->gone = before->replaced = true;
        before->execed = execed;
        forget_samples(c, before);
    }
    t = ml_target_new(&g->hello, g->pid, parent, how, start_ns, &c->dict);
    if (t)
        ml_target_watch(t, &g->pidfd);
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

/* ---- Processes without a recorder --------------------------------------- */

/* The hello that the recorder would have sent. */
static void greet_silent(struct ml_collector *c, uint32_t pid, uint32_t parent_pid, uint32_t how,
                         const char *command)
{
    struct greeting g = {.pid = pid, .fd = -1, .pidfd = -1};

    g.hello = (struct ml_hello){
        .pid = pid, .parent_pid = parent_pid, .how = how, .clock = c->ticks.ticks};
    snprintf(g.hello.command, sizeof(g.hello.command), "%s", command);
    new_target(c, &g);
}

struct family {
    struct ml_collector *c;
    uint32_t parent_pid;
};

static void meet_child(void *ctx, uint32_t pid)
{
    const struct family *f = ctx;
    char command[sizeof(((struct ml_hello *)0)->command)];

    if (find_target(f->c, pid))
        return;
    ml_command_line_of(pid, command, sizeof(command));
    /* A zombie has no command line. */
    if (*command)
        greet_silent(f->c, pid, f->parent_pid, ML_FORKED, command);
}

/* Children that are found meanwhile are visited in the same loop. */
static void look_for_children(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];
        if (!t->dead && !t->gone)
            ml_children_of(t->pid, meet_child, &(struct family){c, t->pid});
    }
}

/* ---- Ends --------------------------------------------------------------- */

static bool thread_exists(const struct ml_source *s)
{
    return s->target->foreign ||
           !syscall(SYS_tgkill, s->target->pid, __atomic_load_n(&s->ring->tid, __ATOMIC_RELAXED),
                    0) ||
           errno != ESRCH;
}

/* Frees a ring once its thread has ended or is found dead. */
static void settle_source(struct ml_collector *c, struct ml_source *s, bool check_threads)
{
    uint32_t state;

    if (!s->open)
        return;
    ml_source_note_lost(&c->stage, s);
    ml_source_note_name(&c->stage, s);
    /* The order matters: a ring that is closed now gets no more records, so
     * the next load sees all of them. */
    state = atomic_load_explicit(&s->ring->state, memory_order_acquire);
    if (state == ML_RING_ACTIVE && (s->target->gone || (check_threads && !thread_exists(s))))
        state = ML_RING_CLOSED;
    if (state != ML_RING_CLOSED ||
        atomic_load_explicit(&s->ring->head, memory_order_acquire) != s->tail)
        return;
    ml_source_close(&c->stage, s);
    /* Pairs with the acquire exchange of the claiming thread. */
    atomic_store_explicit(&s->ring->state, ML_RING_FREE, memory_order_release);
}

/* True when nothing of the target is left to read. */
static bool settle_target(struct ml_collector *c, struct ml_target *t, bool check_threads)
{
    bool drained = true;

    for (size_t k = 0; k < t->sets.len; k++) {
        for (uint32_t r = 0; r < t->sets.items[k].used; r++) {
            struct ml_source *s = &t->sets.items[k].sources[r];
            settle_source(c, s, check_threads);
            drained &= !s->open;
        }
    }
    ml_target_note_lost(&c->stage, t);
    ml_role_note(t, &c->dict);
    return drained;
}

static bool is_waited_for(struct ml_session *page)
{
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

static void look_after(const struct ml_collector *c, struct ml_target *t)
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

static void look_for_the_dead(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++)
        look_after(c, c->stage.targets.items[i]);
}

/* Whether a hello of the same process waits: from a later image, or for more rings. */
static bool speaks_later(const struct ml_collector *c, const struct ml_target *t)
{
    for (size_t i = c->greeted; i < c->greetings.len; i++) {
        if (c->greetings.items[i].pid == t->pid)
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

static void look_for_sandboxes(struct ml_collector *c)
{
    size_t count = c->stage.targets.len;

    for (size_t i = 0; i < count && i < SANDBOXES_AT_ONCE; i++) {
        struct ml_target *t = c->stage.targets.items[c->sandbox_next++ % count];
        if (!t->dead && !t->gone)
            ml_target_check_sandbox(t, c->session->page);
    }
}

/* Everything from the process has been read, and its end is written.
 * @return whether it can be removed; else it stays for another round */
static bool let_go(struct ml_collector *c, struct ml_target *t)
{
    uint64_t status;

    if (!settle_target(c, t, false))
        return false;
    status = wait_status(c, t);
    if (!status_final(c, t, status))
        return false;
    ml_target_note_end(&c->stage, t, status);
    if (status && WIFSIGNALED((int)(status - 1)) && WTERMSIG((int)(status - 1)) == SIGKILL)
        atomic_fetch_add(&c->session->page->killed, 1);
    end_turns(c->session->page, t);
    if (!t->replaced)
        ml_session_forget_spared(c->session->page, t->own_pid);
    forget_samples(c, t);
    ml_target_free(t);
    return true;
}

/* Marks the dead whose messages have all been read: the socket was read since they were found. */
static void find_ends(struct ml_collector *c)
{
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        if (!t->heard_out || t->gone || speaks_later(c, t))
            continue;
        t->gone = true;
        ml_target_find_end(&c->stage, t, ml_ticks_now(&c->ticks));
    }
}

/* The first to end among the gone, if that is before `until`; the number of targets: none. */
static size_t first_to_go(const struct ml_collector *c, uint64_t until)
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

static void take_records(struct ml_collector *c, uint64_t until)
{
    c->words += ml_merge_pass(&c->merge, &c->stage, until);
}

/* Whether a process ended after this round's clock reading: the next round removes it. */
static bool someone_leaves(const struct ml_collector *c)
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
static void see_off_the_dead(struct ml_collector *c, uint64_t until)
{
    size_t i;

    while ((i = first_to_go(c, until)) < c->stage.targets.len) {
        struct ml_target *t = c->stage.targets.items[i];

        take_records(c, t->end_ticks + 1);
        t->stays = true;
        if (!let_go(c, t))
            continue;
        c->stage.targets.len--;
        for (; i < c->stage.targets.len; i++)
            c->stage.targets.items[i] = c->stage.targets.items[i + 1];
    }
}

static void settle(struct ml_collector *c)
{
    bool check =
        !c->checked_ns || c->ticks.ns - c->checked_ns > CHECK_NS || is_waited_for(c->session->page);

    if (check)
        c->checked_ns = c->ticks.ns;
    for (size_t i = 0; i < c->stage.own.len; i++)
        ml_source_note_lost(&c->stage, c->stage.own.items[i]);
    if (check && c->sample_only)
        look_for_children(c);
    if (check)
        look_for_sandboxes(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        t->stays = false;
        settle_target(c, t, check && !t->gone);
    }
}

/* Only records from before the new process's hello are taken: others may depend on a later hello.
 * A killed process is found late, and may have made room for the new one. */
static void see_off_those_before(struct ml_collector *c, const struct ml_hello *hello)
{
    find_ends(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        if (t->gone)
            ml_target_end_before(&c->stage, t, hello->clock);
    }
    see_off_the_dead(c, ml_min_u64(c->ticks.ticks, hello->clock + 1));
}

static void answer(struct ml_collector *c, struct greeting *g)
{
    struct ml_target *t = NULL;

    if (!g->hello.set)
        see_off_those_before(c, &g->hello);
    if (g->fd >= 0)
        t = g->hello.set ? find_target(c, g->pid) : new_target(c, g);
    if (t && !ml_target_add_set(t, g->fd))
        return;
    /* No memory or descriptors left. The set's owner sees that we continue without it. */
    if (!g->hello.set)
        atomic_fetch_add(&c->session->page->unrecorded, 1);
}

static void close_greeting(const struct greeting *g)
{
    if (g->fd >= 0)
        close(g->fd);
    if (g->pidfd >= 0)
        close(g->pidfd);
}

static bool receive_one(struct ml_collector *c)
{
    struct greeting g = {.pidfd = -1};

    if (!receive(c->session->socket, &g) &&
        !ml_handed_take_hello(&c->handed, c->session->page->key, &g.hello, &g.pid, &g.fd))
        return false;
    if (!g.hello.magic || ml_vec_push(&c->greetings, g))
        close_greeting(&g);
    return true;
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
static bool is_time_to_look(struct ml_collector *c)
{
    if (c->checked_ns && c->ticks.ns - c->looked_ns <= LOOK_NS &&
        !is_waited_for(c->session->page) && !any_is_ending(c))
        return false;
    c->looked_ns = c->ticks.ns;
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
    for (; c->greeted < c->greetings.len; c->greeted++) {
        ml_stage_beat(&c->stage); /* a hundred at once take a while */
        answer(c, &c->greetings.items[c->greeted]);
        close_greeting(&c->greetings.items[c->greeted]);
    }
    ml_vec_clear(&c->greetings);
    c->greeted = 0;
}

/* The dead are found before the last hello is read, so that all their messages are
 * among those read; after each hello, so that a process that ended before the hello was sent is
 * known to be dead; and once more when hellos are answered, since their senders may have ended,
 * too. */
static void accept_hellos(struct ml_collector *c)
{
    bool look = is_time_to_look(c);

    for (int i = 0; i < LOOKS_AT_ONCE; i++) {
        if (look || i)
            look_for_the_dead(c);
        if (receive_all(c) && i + 1 < LOOKS_AT_ONCE)
            continue;
        for (size_t k = 0; k < c->stage.targets.len; k++)
            c->stage.targets.items[k]->heard_out = c->stage.targets.items[k]->dead;
        if (!c->greetings.len)
            break;
        answer_all(c);
    }
    find_ends(c);
}

/* ---- The loop ----------------------------------------------------------- */

/* Targets check this when we show no sign of life. */
static void introduce(struct ml_collector_id *id)
{
    uint32_t pid = (uint32_t)getpid();
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct ml_proc_stat stat;

    if (!ml_proc_stat_read(pid, tid, &stat))
        return;
    atomic_store(&id->start_ticks, stat.start_ticks);
    atomic_store(&id->pid_namespace, ml_proc_pid_namespace());
    atomic_store(&id->threads[0], tid);
    /* Pairs with ml_collector_state of the recorder. */
    atomic_store_explicit(&id->pid, pid, memory_order_release);
}

static uint32_t running(const struct ml_collector *c)
{
    uint32_t n = 0;

    for (size_t i = 0; i < c->stage.targets.len; i++)
        n += !c->stage.targets.items[i]->gone && !c->stage.targets.items[i]->dead;
    return n;
}

static void publish_progress(struct ml_collector *c)
{
    struct ml_session *page = c->session->page;
    uint64_t events = c->writer.written - c->writer.lent_events;

    for (int i = 0; i < ML_KIND_COUNT; i++)
        events += c->writer.counts.events[i];
    atomic_store_explicit(&page->events, events - ml_min_u64(events, c->stage.samples),
                          memory_order_relaxed);
    atomic_store_explicit(&page->refusals, c->stage.refusals, memory_order_relaxed);
    atomic_store_explicit(&page->samples, c->stage.samples, memory_order_relaxed);
    atomic_store_explicit(&page->own_events, c->stage.own_events, memory_order_relaxed);
    atomic_store_explicit(&page->file_bytes, c->writer.offset, memory_order_relaxed);
    atomic_store_explicit(&page->lost, c->stage.lost + c->writer.lost, memory_order_relaxed);
    atomic_store_explicit(&page->not_followed, c->stage.not_followed, memory_order_relaxed);
    atomic_store_explicit(&page->names_folded, c->stage.names_folded, memory_order_relaxed);
    atomic_store_explicit(&page->spaces_refused, c->stage.spaces_refused, memory_order_relaxed);
    atomic_store_explicit(&page->details_lost, c->stage.details_lost, memory_order_relaxed);
    atomic_store_explicit(&page->write_error, -c->writer.error, memory_order_relaxed);
    atomic_store_explicit(&page->running, running(c) + c->silent, memory_order_relaxed);
}

static bool has_gpu_memory(const struct ml_dict *dict)
{
    for (size_t i = 0; i < dict->by_tag[ML_DEF_SPACE].len; i++) {
        const struct ml_def *space = &dict->by_tag[ML_DEF_SPACE].items[i];
        const char *device = ml_dict_text(dict, (uint32_t)space->fields[ML_SPACE_DEVICE]);

        if (strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0)
            return true;
    }
    return false;
}

static bool is_target(void *ctx, uint32_t pid)
{
    return find_target(ctx, pid) != NULL;
}

/* Each as soon as a process prints it, so that it is kept if the collector is killed. */
static void note_left_alone(struct ml_collector *c)
{
    uint32_t said = atomic_load_explicit(&c->session->page->notices_said, memory_order_relaxed);

    for (int i = 0; i < ML_LEFT_COUNT; i++) {
        if (said & ~c->notices_kept & ml_left_alone[i].notice)
            ml_dict_config(&c->dict, ml_left_alone[i].setting, ML_LEFT_ALONE_VALUE);
    }
    c->notices_kept = said;
}

/* One round: hellos, records, ends. Returns the number of words read. A file arrives
 * before the record that names it, and after its process's hello. */
static uint64_t round_once(struct ml_collector *c)
{
    c->words = 0;
    ml_stage_beat(&c->stage);
    c->bell = atomic_load(&c->session->page->doorbell);
    ml_ticks_read(&c->ticks); /* before the hellos: see merge.h */
    ml_handed_receive(&c->handed);
    accept_hellos(c);
    ml_session_dir_hear(c->session);
    ml_handed_keep(&c->handed, is_target, c);
    see_off_the_dead(c, c->ticks.ticks);
    take_records(c, c->ticks.ticks);
    atomic_fetch_add(&c->session->page->rounds, 1);
    ml_merge_wake(&c->stage);
    settle(c);
    if (c->sampler)
        ml_sampler_deliver(c->sampler);
    ml_stage_note_lost(&c->stage, atomic_exchange(&c->session->page->unrecorded_lost, 0));
    ml_stage_note_unkept(&c->stage);
    note_left_alone(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        if (c->stage.targets.items[i]->profile)
            ml_profile_tick(c->stage.targets.items[i]->profile, c->ticks.ns);
    }
    if (c->ticks.ns - c->saved_ns > SAVE_NS) {
        ml_trace_writer_save(&c->writer);
        c->saved_ns = c->ticks.ns;
    }
    publish_progress(c);
    return c->words;
}

/* The sum of the read positions of rings of processes in a sandbox.
 * @return whether there is such a process */
static bool sandbox_words(const struct ml_collector *c, uint64_t *ret)
{
    bool any = false;

    *ret = 0;
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        const struct ml_target *t = c->stage.targets.items[i];
        if (t->dead || t->gone || !ml_target_in_sandbox(t))
            continue;
        any = true;
        *ret += ml_target_words_read(t);
    }
    return any;
}

static uint64_t idle_ns(struct ml_collector *c)
{
    uint64_t words;

    if (!sandbox_words(c, &words))
        return c->idle_ns;
    c->sandbox_ns =
        words != c->sandbox_words ? SANDBOX_NS_MIN : ml_min_u64(2 * c->sandbox_ns, SANDBOX_NS_MAX);
    c->sandbox_words = words;
    return ml_min_u64(c->sandbox_ns, c->idle_ns);
}

static void sleep_until_rung(struct ml_collector *c)
{
    struct ml_session *page = c->session->page;
    struct timespec limit = {.tv_nsec = (long)idle_ns(c)};

    /* A thread that rang since the round began may have a ring that the round did not empty. Pairs
     * with ml_ring_doorbell: either it sees that we sleep, or we see that it rang. */
    atomic_store(&page->sleeping, 1);
    if (!atomic_load(&page->finish))
        syscall(SYS_futex, &page->doorbell, FUTEX_WAIT, c->bell, &limit, NULL, 0);
    atomic_store(&page->sleeping, 0);
}

static void count_silent(void *ctx, uint32_t pid)
{
    struct ml_collector *c = ctx;

    c->silent += !find_target(c, pid);
}

/* Processes that have just been started, or run without the recorder. */
static void find_silent(struct ml_collector *c)
{
    char variable[sizeof(ML_SESSION_ENV "=") + ML_SESSION_PATH_ROOM];

    snprintf(variable, sizeof(variable), ML_SESSION_ENV "=%s", c->session->path);
    c->silent = 0;
    ml_processes_with(variable, count_silent, c);
}

/* Takes everything that is in the rings now; processes that still run are released. Two rounds
 * are needed to remove a process: to find it dead, and to have all its records up to then. */
static void finish(struct ml_collector *c)
{
    c->checked_ns = 0;
    if (c->sampler)
        ml_sampler_stop(c->sampler);
    round_once(c);
    atomic_store(&c->session->page->closed, 1);
    c->checked_ns = 0;
    round_once(c);
    if (c->sampler)
        ml_sampler_finish(c->sampler, &c->dict, c->session->page);
    round_once(c);
    round_once(c);
    find_silent(c);
    /* Profiles of processes that are still running end here. */
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        ml_profile_free(c->stage.targets.items[i]->profile);
        c->stage.targets.items[i]->profile = NULL;
    }
}

static bool program_runs(const struct ml_collector *c)
{
    struct pollfd end = {.fd = c->program_fd, .events = POLLIN};
    pid_t pid = (pid_t)atomic_load(&c->session->page->program_pid);

    if (c->program_fd >= 0)
        return poll(&end, 1, 0) == 0;
    return pid && !(kill(pid, 0) && errno == ESRCH);
}

/* Whether no process is left that could request the end, or start another. */
static bool is_alone(const struct ml_collector *c)
{
    return c->launcher && getppid() != c->launcher && !program_runs(c);
}

/* False: it will not run. Its hello shows that it runs before the launcher reports it. */
static bool wait_until_started(struct ml_collector *c)
{
    struct ml_session *page = c->session->page;
    struct pollfd hello = {.fd = c->session->socket, .events = POLLIN};

    for (;;) {
        bool over = atomic_load(&page->finish) || is_alone(c);
        if (!atomic_load(&page->held)) /* after the load of finish, which comes later */
            return true;
        if (over)
            return false;
        if (poll(&hello, 1, IDLE_NS_MIN / 1000000) > 0)
            return true;
        ml_stage_beat(&c->stage);
    }
}

int ml_collector_run(struct ml_collector *c)
{
    struct ml_session *page = c->session->page;
    /* With less there is time: another pass at once would only take the rings'
     * cache lines away from their writers. */
    uint64_t much = page->ring_bytes / sizeof(uint64_t) / 8;
    int r;

    if (!wait_until_started(c)) {
        ml_trace_writer_discard(&c->writer);
        return 0;
    }
    /* A reader must not mistake an older trace for this one. */
    if (c->writer.keeps_old)
        ml_trace_writer_save(&c->writer);
    introduce(&page->collector);
    /* If samples are all there is, none may be skipped. */
    if (c->sample_hz)
        c->sampler = ml_sampler_start(c->sample_hz, !c->sample_only, &c->stage);
    if (c->sample_only)
        greet_silent(c, atomic_load(&page->program_pid), 0, ML_STARTED, c->command);
    while (!atomic_load(&page->finish)) {
        bool alone = is_alone(c); /* before the round, which reads new hellos */
        uint64_t words = round_once(c);
        if (alone && !running(c))
            break;
        if (words > much || someone_leaves(c))
            continue;
        c->idle_ns = words ? IDLE_NS_MIN : ml_min_u64(2 * c->idle_ns, IDLE_NS_MAX);
        sleep_until_rung(c);
    }
    finish(c);
    ml_symbols_define(&c->stage);
    r = ml_trace_writer_close(&c->writer);
    publish_progress(c);
    atomic_store(&page->gpu_memory, has_gpu_memory(&c->dict));
    return r;
}
