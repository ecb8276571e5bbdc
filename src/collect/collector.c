/* collector.c: the collector's loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector_impl.h"
#include "collector_progress.h"
#include "collector_sleep.h"
#include "ended_processes.h"
#include "ended_threads.h"
#include "file_lock.h"
#include "hellos.h"
#include "losses.h"
#include "nanoseconds.h"
#include "own_root.h"
#include "older_memory.h"
#include "pauses.h"
#include "sandboxed.h"
#include "saves.h"
#include "silent_processes.h"
#include "surroundings.h"
#include "symbols.h"

/* A partly filled block is written after this long, so that little is lost if
 * we are killed. */
#define SAVE_NS 1000000000u
/* One with few events sooner, for those who watch the program: it is soon replaced. */
#define SAVE_SMALL_NS 100000000u
/* How often to check whether the program has been started. */
#define START_POLL_MS 10
/* How often to check whether threads are still alive, and for processes without a recorder. */
#define CHECK_NS 100000000u
/* How long a process may still join when those who made it do so are gone. */
#define ABANDONED_NS UINT64_C(3000000000)
/* Processes checked for a sandbox at a time. */
#define SANDBOXES_AT_ONCE 64

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
    c->saves.on_oom = opts->save_on_oom;
    c->saves.growth.limit = opts->save_on_growth;
    if (opts->save_on_growth.share > 0)
        c->stage.growth = &c->saves.growth;
    atomic_store(&session->page->program_pid, (uint32_t)opts->program);
    c->program_fd = opts->program ? (int)syscall(SYS_pidfd_open, opts->program, 0) : -1;
    c->starter_fd = opts->starter_fd;
    strcpy(c->groups, ML_CGROUP_OF_THIS_PROCESS);
    c->groups_fd = opts->runs ? ml_surroundings_keep_groups(opts->program, c->groups) : -1;
    c->root = opts->own_root ? ml_root_open(opts->program) : -1;
    c->ticks = *ticks;
    ml_ticks_read(&c->ticks);
    c->stage.start_wall_ns = ml_clock_ns(CLOCK_REALTIME) - c->ticks.ns;
    r = ml_trace_writer_open(&c->writer, opts->path, opts->force, c->stage.start_wall_ns, &c->dict,
                             err);
    if (!r && (opts->keep.bytes || opts->keep.ns)) {
        r = ml_trace_writer_keep(&c->writer, &opts->keep, err);
        if (r)
            ml_trace_writer_discard(&c->writer);
        else
            ml_window_set_heartbeat(c->writer.window, &session->page->heartbeat);
    }
    if (r) {
        ml_collector_free(c);
        return r;
    }
    if (session->page->heap == ML_HEAP_MALLOC || session->page->heap == ML_HEAP_ALL)
        ml_trace_writer_save_bytes(&c->writer);
    ml_trace_writer_publish(&c->writer);
    c->writer.thread_id = &session->page->collector.threads[1];
    for (const struct ml_setting *s = opts->settings; s && s->key; s++)
        ml_dict_config(&c->dict, s->key, s->value);
    ml_surroundings_note(&c->dict, c->groups);
    c->stage.heartbeat = &session->page->heartbeat;
    c->stage.heap_sampled = session->page->heap == ML_HEAP_SAMPLE ? session->page->heap_bytes : 0;
    c->stage.heap_least = session->page->heap == ML_HEAP_LARGE ? session->page->heap_bytes : 0;
    c->kills_before = ml_cgroup_kills(c->groups, ML_CGROUP_MOUNTS);
    ml_collector_sleep_init(c);
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
    ml_growth_release(&c->saves.growth);
    ml_merge_release(&c->merge);
    ml_handed_release(&c->handed);
    ml_vec_release(&c->hellos);
    if (c->program_fd >= 0)
        close(c->program_fd);
    if (c->root >= 0)
        close(c->root);
    if (c->groups_fd >= 0)
        close(c->groups_fd);
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

static void look_for_sandboxes(struct ml_collector *c)
{
    size_t count = c->stage.targets.len;

    for (size_t i = 0; i < count && i < SANDBOXES_AT_ONCE; i++) {
        struct ml_target *t = c->stage.targets.items[c->sandbox_next++ % count];
        if (!t->dead && !t->gone)
            ml_target_check_sandbox(t, c->session->page);
    }
}

static void close_ended_threads(struct ml_collector *c)
{
    bool check =
        !c->checked_ns || c->ticks.ns - c->checked_ns > CHECK_NS || ml_collector_end_is_awaited(c);

    if (check)
        c->checked_ns = c->ticks.ns;
    for (size_t i = 0; i < c->stage.own.len; i++)
        ml_source_note_lost(&c->stage, c->stage.own.items[i]);
    if (check && c->sample_only)
        ml_collector_find_children(c);
    if (check)
        look_for_sandboxes(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        struct ml_target *t = c->stage.targets.items[i];

        t->stays = false;
        ml_target_close_ended(&c->stage, t, check && !t->gone);
    }
}

static bool is_target(void *ctx, uint32_t pid)
{
    return ml_collector_find_target(ctx, pid) != NULL;
}

/* One round: hellos, records, ends. Returns the number of words read. A file arrives
 * before the record that names it, and after its process's hello. */
static uint64_t round_once(struct ml_collector *c)
{
    c->words = 0;
    ml_stage_beat(&c->stage);
    c->bell = atomic_load(&c->session->page->doorbell);
    ml_collector_hear_saves(c);
    ml_ticks_read(&c->ticks); /* before the hellos: see merge.h */
    ml_handed_receive(&c->handed);
    ml_collector_accept_hellos(c);
    ml_session_dir_hear(c->session);
    ml_handed_keep(&c->handed, is_target, c);
    ml_collector_remove_ended(c, c->ticks.ticks);
    ml_collector_take_older(c);
    ml_collector_take_pauses(c, c->ticks.ticks + 1);
    ml_collector_take_records(c, c->ticks.ticks);
    atomic_fetch_add(&c->session->page->rounds, 1);
    ml_merge_wake(&c->stage);
    close_ended_threads(c);
    if (c->sampler)
        ml_sampler_deliver(c->sampler);
    ml_stage_note_lost(&c->stage, atomic_exchange(&c->session->page->unrecorded_lost, 0));
    ml_stage_note_unkept(&c->stage);
    ml_collector_note_left_alone(c);
    for (size_t i = 0; i < c->stage.targets.len; i++) {
        if (c->stage.targets.items[i]->profile)
            ml_profile_tick(c->stage.targets.items[i]->profile, c->ticks.ns);
    }
    ml_collector_save(c);
    if (c->ticks.ns - c->saved_ns >
        (ml_trace_writer_is_small(&c->writer) ? SAVE_SMALL_NS : SAVE_NS)) {
        ml_trace_writer_save(&c->writer);
        c->saved_ns = c->ticks.ns;
    }
    ml_collector_publish(c);
    return c->words;
}

/* Takes everything that is in the rings now; processes that still run are released. Two rounds
 * are needed to remove a process: to find it dead, and to have all its records up to then. */
static void finish(struct ml_collector *c)
{
    c->checked_ns = 0;
    if (c->sampler)
        ml_sampler_stop(c->sampler);
    round_once(c);
    /* Pairs with ml_attach_goes_on. */
    atomic_store(&c->session->page->closed, 1);
    c->checked_ns = 0;
    round_once(c);
    if (c->sampler)
        ml_sampler_finish(c->sampler, &c->dict, c->session->page);
    round_once(c);
    round_once(c);
    ml_collector_end_pause(c);
    ml_collector_count_silent(c);
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
        if (poll(&hello, 1, START_POLL_MS) > 0)
            return true;
        ml_stage_beat(&c->stage);
    }
}

/* Whether those who were to make the program join are gone, as after SIGKILL, and it has not. */
static bool is_abandoned(struct ml_collector *c)
{
    struct pollfd starter = {.fd = c->starter_fd, .events = POLLIN};

    if (!c->starter_fd || c->dict.by_tag[ML_DEF_PROCESS].len || poll(&starter, 1, 0) <= 0)
        return false;
    if (!c->starter_ended_ns)
        c->starter_ended_ns = c->ticks.ns;
    return c->ticks.ns - c->starter_ended_ns > ABANDONED_NS;
}

/* The process ends now: its threads need not. */
static int give_up(struct ml_collector *c)
{
    atomic_store(&c->session->page->closed, 1);
    if (c->writer.is_new)
        unlink(c->writer.path);
    return 0;
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
    ml_collector_introduce(&page->collector);
    /* If samples are all there is, none may be skipped. */
    if (c->sample_hz)
        c->sampler = ml_sampler_start(c->sample_hz, !c->sample_only,
                                      atomic_load(&page->program_pid), &c->stage);
    if (c->sample_only)
        ml_collector_add_silent(c, atomic_load(&page->program_pid), 0, ML_STARTED, c->command);
    while (!atomic_load(&page->finish)) {
        bool alone = is_alone(c); /* before the round, which reads new hellos */
        uint64_t words = round_once(c);
        if (alone && !ml_collector_running(c))
            break;
        if (is_abandoned(c))
            return give_up(c);
        if (words > much || ml_collector_end_is_due(c))
            continue;
        ml_collector_sleep(c, words > 0);
    }
    finish(c);
    ml_collector_end_saves(c);
    ml_symbols_define(&c->stage, c->root);
    r = ml_trace_writer_close(&c->writer);
    ml_collector_publish_end(c);
    return r;
}
