/* recorded_rank.c: see recorded_rank.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorded_rank.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "classify.h"
#include "digest_maker.h"
#include "each_event.h"
#include "memledger/memledger.h"
#include "replay.h"
#include "simulated_noise.h"
#include "trace_maker.h"

#define RANKS_PER_HOST 8
#define LEAK_SHARE 50    /* of the peak, one part in so many in each step */
#define MODULE_SHARE 20  /* the same, for the weights of the extra module */
#define EARLY_PERCENT 60 /* of the events, before a rank ends early */
#define EXIT_CODE_1 (1 + (1 << 8))
#define OWN_ADDRESSES (UINT64_C(1) << 46) /* of blocks that the recording does not have */
#define OWN_ROOM (UINT64_C(1) << 36)      /* for each */

struct copy {
    const struct recording *from;
    const struct simulated_job *job;
    enum fault fault;
    uint32_t rank;
    uint64_t random;
    double size, step_size; /* of sizes to those of the recording */
    struct ml_replay replay;
    struct ml_maker *maker;
    bool is_counted;   /* the event that was fed to the replay has a block … */
    uint32_t category; /* … of this one */
    bool leaks_now;
    uint64_t events, own_blocks;
    uint32_t next_string;
};

/* ---- Definitions ----------------------------------------------------------------- */

static uint32_t put_string(struct copy *c, const char *text)
{
    struct ml_def def = {.tag = ML_DEF_STRING, .id = c->next_string++, .bytes = text};

    def.len = (uint32_t)strlen(text);
    ml_maker_def(c->maker, &def);
    return def.id;
}

static void copy_strings(struct copy *c)
{
    const struct ml_trace *t = c->from->trace;

    for (uint32_t i = 1; i < ml_trace_strings(t); i++) {
        struct ml_def def = {.tag = ML_DEF_STRING, .id = i};

        def.bytes = ml_trace_string(t, i, &def.len);
        ml_maker_def(c->maker, &def);
    }
    c->next_string = ml_trace_strings(t);
}

static void put_place(struct copy *c, uint32_t process)
{
    char text[160];

    snprintf(text, sizeof(text), "rank=%u world_size=%u local_rank=%u node=%u job=simulated dp=%u",
             (unsigned)c->rank, (unsigned)c->job->ranks, (unsigned)(c->rank % RANKS_PER_HOST),
             (unsigned)(c->rank / RANKS_PER_HOST), (unsigned)c->rank);
    ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_PROCESS_PLACE,
                                            .id = process,
                                            .fields = {put_string(c, text)}});
}

static void copy_processes(struct copy *c)
{
    const struct ml_trace *t = c->from->trace;

    for (uint32_t i = 0; i < ml_trace_processes(t); i++) {
        const struct ml_process *p = ml_trace_process(t, i);

        ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_PROCESS,
                                                .id = i,
                                                .fields = {p->pid, (uint64_t)(p->parent + 1),
                                                           p->how, p->start_ns, p->command, 0}});
        put_place(c, i);
    }
    for (uint32_t i = 0; i < ml_trace_threads(t); i++) {
        const struct ml_thread *thread = ml_trace_thread(t, i);

        ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_THREAD,
                                                .id = i,
                                                .fields = {thread->process, thread->tid,
                                                           thread->start_ns, thread->name}});
    }
}

static void copy_places(struct copy *c)
{
    const struct ml_trace *t = c->from->trace;

    for (uint32_t i = 0; i < ml_trace_spaces(t); i++) {
        const struct ml_space *s = ml_trace_space(t, i);

        ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_SPACE,
                                                .id = i,
                                                .fields = {s->process, s->device, s->level, s->name,
                                                           s->sampled_bytes, s->least_bytes}});
    }
    for (uint32_t i = 1; i < ml_trace_scopes(t); i++) {
        const struct ml_scope *s = ml_trace_scope(t, i);

        ml_maker_def(c->maker,
                     &(struct ml_def){.tag = ML_DEF_SCOPE,
                                      .id = i,
                                      .fields = {s->parent, s->kind, s->name, s->class_name}});
    }
}

static void copy_rest(struct copy *c)
{
    const struct ml_trace *t = c->from->trace;
    char host[32];
    uint32_t host_name;

    snprintf(host, sizeof(host), "node%u", (unsigned)(c->rank / RANKS_PER_HOST));
    host_name = put_string(c, host);
    for (uint32_t i = 0; i < ml_trace_objects(t); i++) {
        const struct ml_object *o = ml_trace_object(t, i);

        ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_OBJECT,
                                                .id = i,
                                                .fields = {o->process, o->kind,
                                                           (uint64_t)(o->domain + 1), o->name}});
    }
    for (uint32_t i = 0; i < ml_trace_configs(t); i++) {
        const struct ml_config *config = ml_trace_config(t, i);
        bool is_host = strcmp(ml_trace_string(t, config->key, NULL), "host") == 0;

        ml_maker_def(c->maker, &(struct ml_def){.tag = ML_DEF_CONFIG,
                                                .id = config->key,
                                                .fields = {is_host ? host_name : config->value}});
    }
}

/* ---- Sizes ------------------------------------------------------------------------- */

static bool follows_input(uint32_t category)
{
    return category == MEMLEDGER_ACTIVATION || category == MEMLEDGER_INPUT ||
           category == MEMLEDGER_INTERMEDIATE_GRADIENT;
}

static uint64_t size_of(const struct copy *c, uint64_t bytes)
{
    double size = (double)bytes * c->size;

    if (!c->is_counted)
        return bytes;
    if (follows_input(c->category))
        size *= c->step_size * (c->fault == FAULT_LONGER ? 1.5 : 1);
    if (c->category == MEMLEDGER_OPTIMIZER_STATE && c->fault == FAULT_UNSHARDED)
        size *= 8;
    return (uint64_t)size + 1;
}

/* ---- Events ---------------------------------------------------------------------------- */

/* A block of its own beside that of the event, never freed. */
static void add_block(struct copy *c, const struct ml_event *like, uint64_t bytes)
{
    struct ml_event alloc = {.kind = ML_ALLOC,
                             .time_ns = like->time_ns,
                             .thread = like->thread,
                             .space = like->space,
                             .scope = like->scope,
                             .addr = OWN_ADDRESSES + c->own_blocks++ * OWN_ROOM,
                             .size = bytes};

    ml_maker_event(c->maker, &alloc);
}

/* Weights that the other ranks do not have. */
static void add_module(struct copy *c, const struct ml_event *like)
{
    uint32_t scope = ml_trace_scopes(c->from->trace);
    struct ml_event alloc = *like, label = *like;

    ml_maker_def(c->maker, &(struct ml_def){
                               .tag = ML_DEF_SCOPE,
                               .id = scope,
                               .fields = {0, MEMLEDGER_SCOPE_MODULE, put_string(c, "adapter"), 0}});
    alloc.scope = scope;
    add_block(c, &alloc, c->from->peak_bytes / MODULE_SHARE);
    label.kind = ML_LABEL;
    label.addr = OWN_ADDRESSES + (c->own_blocks - 1) * OWN_ROOM;
    label.args[0] = put_string(c, "adapter.weight");
    label.args[1] = MEMLEDGER_PARAMETER;
    ml_maker_event(c->maker, &label);
}

static void plant(struct copy *c, const struct ml_event *alloc)
{
    if (c->fault == FAULT_MODULE && c->own_blocks == 0)
        add_module(c, alloc);
    if (c->leaks_now && c->category == MEMLEDGER_ACTIVATION) {
        add_block(c, alloc, c->from->peak_bytes / LEAK_SHARE);
        c->leaks_now = false;
    }
}

static void note_block(void *ctx, const struct ml_block *block, uint64_t change)
{
    struct copy *c = ctx;

    (void)change;
    c->is_counted = true;
    c->category = block->category;
}

static void begin_step(struct copy *c)
{
    c->step_size = simulated_noise(&c->random, c->job->noise);
    c->leaks_now = c->fault == FAULT_LEAK;
}

static bool ends_early(const struct copy *c)
{
    return (c->fault == FAULT_KILLED || c->fault == FAULT_OOM || c->fault == FAULT_STOPPED) &&
           c->events > c->from->events * EARLY_PERCENT / 100;
}

static int copy_event(void *ctx, const struct ml_event *event)
{
    struct copy *c = ctx;
    struct ml_event copied = *event;
    bool is_alloc = event->kind == ML_ALLOC || event->kind == ML_ALLOC_EX;
    int r;

    c->events++;
    if (ends_early(c))
        return 0;
    c->is_counted = false;
    r = ml_replay_feed(&c->replay, event);
    copied.stack = 0;
    if (event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_STEP)
        begin_step(c);
    if (is_alloc)
        copied.size = size_of(c, event->size);
    if (event->kind == ML_ALLOC_EX)
        copied.args[0] = ml_min_u64(event->args[0], copied.size);
    ml_maker_event(c->maker, &copied);
    if (is_alloc && c->is_counted)
        plant(c, event);
    return r;
}

/* The end of a rank that does not run to the end of the recording. */
static void end_early(struct copy *c)
{
    uint64_t now_ns = ml_trace_info(c->from->trace)->end_ns;
    uint64_t status = c->fault == FAULT_OOM      ? EXIT_CODE_1
                      : c->fault == FAULT_KILLED ? 1 + SIGKILL
                                                 : 1 + SIGTERM;

    if (c->fault == FAULT_OOM)
        ml_maker_event(
            c->maker,
            &(struct ml_event){.kind = ML_OOM, .time_ns = now_ns, .size = c->from->peak_bytes});
    for (uint32_t i = 0; i < ml_trace_processes(c->from->trace); i++)
        ml_maker_event(
            c->maker,
            &(struct ml_event){.kind = ML_PROCESS_END, .time_ns = now_ns, .args = {i, status}});
}

static int write_copy(struct copy *c, const char *path, struct ml_error *err)
{
    struct ml_maker_opts opts = {.start_wall_ns = ml_trace_info(c->from->trace)->start_wall_ns};
    int failed, r = ml_replay_init(&c->replay, c->from->trace);

    ml_replay_classify(&c->replay, &c->from->classes);
    c->replay.ctx = c;
    c->replay.on_bytes = note_block;
    c->maker = ml_maker_create(path, &opts);
    copy_strings(c);
    copy_processes(c);
    copy_places(c);
    copy_rest(c);
    if (r == 0)
        r = ml_each_event(c->from->trace, copy_event, c, err);
    if (ends_early(c))
        end_early(c);
    failed = c->maker ? ml_maker_close(c->maker) : -errno;
    ml_replay_release(&c->replay);
    if (r == 0 && failed < 0)
        r = ml_error_set(err, failed, "%s: cannot write: %s", path, strerror(-failed));
    return r;
}

int recorded_rank(const struct recording *r, const struct simulated_job *job, uint32_t rank,
                  enum fault fault, const char *path, struct ml_error *err)
{
    struct copy c = {.from = r, .job = job, .fault = fault, .rank = rank};

    c.random = (job->seed << 32) + rank;
    c.size = simulated_noise(&c.random, job->noise);
    c.step_size = 1;
    return write_copy(&c, path, err);
}

/* ---- The recording --------------------------------------------------------------------- */

int recording_open(struct recording *r, const char *path, struct ml_error *err)
{
    struct ml_digest digest = {0};
    int failed;

    *r = (struct recording){0};
    failed = ml_trace_open(path, &(struct ml_trace_opts){0}, &r->trace, err);
    if (failed == 0)
        failed = ml_classify(r->trace, &r->classes, err);
    if (failed == 0)
        failed = ml_digest_make(r->trace, &digest, err);
    if (failed == 0 && (digest.ranks.len != 1 || digest.ranks.items[0].devices.len == 0))
        failed = ml_error_set(err, -EINVAL, "%s: must be the recording of one rank", path);
    if (failed == 0) {
        r->peak_bytes = digest.ranks.items[0].devices.items[0].peak_bytes;
        r->events = digest.events;
    }
    ml_digest_release(&digest);
    return failed;
}

void recording_close(struct recording *r)
{
    ml_classes_release(&r->classes);
    ml_trace_free(r->trace);
}
