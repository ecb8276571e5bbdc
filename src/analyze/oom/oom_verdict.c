/* oom_verdict.c: see oom_verdict.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "oom_verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "breakdown_keys.h"
#include "killed_setting.h"
#include "memledger/memledger.h"
#include "narrow.h"
#include "scope_path.h"
#include "torch_packing.h"

#define LEAKS_CONSIDERED 256 /* a graph that is kept grows in each layer of the model */

/* The state of the analysis of one refusal. */
struct case_file {
    const struct ml_trace *trace;
    const struct ml_oom_opts *opts;
    struct ml_arena *arena;
    struct ml_oom *oom;
    struct ml_replay replay; /* frozen at the refusal */
    struct ml_modules modules;
    struct ml_segment_map map;
    struct ml_free_space free;
    struct ml_block_types types;
    struct ml_leaks *leaks;
};

/* ---- The requester ----------------------------------------------------- */

static const char *copy_string(const struct case_file *c, uint32_t string)
{
    uint32_t len;
    const char *text = ml_trace_string(c->trace, string, &len);

    return ml_arena_dup(c->arena, text, len);
}

static const char *likely_category(enum ml_phase phase)
{
    switch (phase) {
    case ML_PHASE_FORWARD:
    case ML_PHASE_RECOMPUTE: return "activation or temporary";
    case ML_PHASE_BACKWARD: return "gradient or intermediate_gradient";
    case ML_PHASE_OPTIMIZER: return "optimizer_state or temporary";
    case ML_PHASE_LOADING: return "parameter";
    case ML_PHASE_NONE: break;
    }
    return "";
}

static int name_line(struct case_file *c)
{
    int64_t line = ml_own_line(c->trace, c->oom->refusal.stack);

    c->oom->line = line > 0 ? ml_line_text(c->trace, (uint32_t)line, c->arena) : "";
    return c->oom->line ? 0 : -ENOMEM;
}

static int name_asker(struct case_file *c)
{
    struct ml_oom *o = c->oom;
    const struct ml_modules *modules = &c->modules;
    uint32_t scope = o->refusal.scope;
    uint32_t module = scope < modules->of_scope.len ? modules->of_scope.items[scope] : 0;
    struct ml_scope_fact fact = ml_scope_fact_of(&modules->facts, scope);
    enum ml_phase phase = (enum ml_phase)fact.phase;

    if (phase == ML_PHASE_NONE && fact.module != 0)
        phase = ML_PHASE_FORWARD;
    o->phase = ml_phase_name(phase);
    o->category = likely_category(phase);
    o->scope = ml_scope_path_dup(c->trace, scope, c->arena);
    o->module = ml_module_title(modules, module, c->arena);
    o->class_name = ml_module_class(modules, module, c->arena);
    return o->scope && o->module && o->class_name ? name_line(c) : -ENOMEM;
}

static int name_place(struct case_file *c)
{
    struct ml_oom *o = c->oom;
    const struct ml_space *space = ml_trace_space(c->trace, o->refusal.space);

    o->device = copy_string(c, space->device);
    o->space = copy_string(c, space->name);
    if (!o->device || !o->space)
        return -ENOMEM;
    o->pid = ml_trace_process(c->trace, space->process)->pid;
    o->addresses.process = space->process;
    o->tid = ml_trace_thread(c->trace, o->refusal.thread)->tid;
    o->host = strcmp(o->device, ML_HOST_DEVICE) == 0;
    o->torch = ml_torch_is_caching(o->device, o->space);
    o->driver.device = o->device;
    if (o->refusal.killed)
        o->group_limit = (struct ml_seen){
            true, strtoull(ml_trace_setting(c->trace, ML_SETTING_KILLED_AT_LIMIT), NULL, 10)};
    return 0;
}

/* ---- Free memory ------------------------------------------------------- */

/* Whether the block is in the segments of the process that made the request. */
static bool is_own(const struct case_file *c, const struct ml_block *block)
{
    const struct ml_replay_space *s = &c->replay.spaces.items[block->space];

    return s->level == MEMLEDGER_BLOCK &&
           ml_trace_process(c->trace, c->replay.processes.items[s->process].number)->pid ==
               c->oom->pid;
}

static int lay_out_afresh(struct case_file *c)
{
    struct ml_torch_packing packing;
    const struct ml_block *block;
    size_t cursor = 0;
    int r = ml_torch_packing_init(&packing);

    if (r == 0) {
        while ((block = ml_snapshot_next(&c->oom->holders.at, &c->replay, &cursor)))
            if (is_own(c, block))
                ml_torch_packing_add(&packing, block->size);
        ml_torch_packing_add(&packing, c->oom->refusal.bytes);
        c->oom->afresh_bytes = ml_torch_packed_bytes(&packing);
        c->oom->expandable_bytes = ml_torch_expandable_bytes(&packing);
    }
    ml_torch_packing_release(&packing);
    return r;
}

static int find_free(struct case_file *c)
{
    struct ml_oom *o = c->oom;
    int r = ml_segment_map_of(&c->replay, &c->map);

    if (r == 0)
        r = ml_free_space_of(&c->map, o->space, &c->free);
    for (size_t i = 0; i < c->free.places.len; i++)
        if (c->free.places.items[i].pid == o->pid && c->free.places.items[i].segments > 0) {
            o->place = c->free.places.items[i];
            o->place.device = o->device;
            o->has_segments = !o->host;
        }
    o->place.driver = o->driver;
    o->need_bytes = o->torch ? ml_torch_segment_bytes(o->refusal.bytes) : o->refusal.bytes;
    if (o->refusal.driver_bytes)
        o->need_bytes = o->refusal.driver_bytes;
    o->afresh_bytes = ml_sum_u64(o->place.live_bytes, o->refusal.bytes);
    if (r == 0 && o->torch && o->has_segments)
        r = lay_out_afresh(c);
    return r;
}

/* ---- One refusal ------------------------------------------------------- */

static int list_holders(struct case_file *c)
{
    struct ml_breakdown_opts opts = {
        .by = {ML_KEY_MODULE, ML_KEY_CATEGORY, ML_KEY_LINE}, .by_count = 3, .top = c->opts->top};

    return ml_breakdown_of(&c->replay, &opts, &c->oom->holders);
}

/* Whether the process has a model and no step: it still loads what its steps will use. Imported
 * files have no steps. */
static bool is_preparing(const struct case_file *c)
{
    const struct ml_block *block;
    size_t cursor = 0;

    if (c->leaks->unit == ML_LEAK_BY_STEP || c->leaks->at.instant.health.imported_from[0])
        return false;
    while ((block = ml_snapshot_next(&c->oom->holders.at, &c->replay, &cursor)))
        if (block->category == MEMLEDGER_PARAMETER)
            return true;
    return false;
}

/* The growth that led there, up to the refusal: a program may take long to end after it. In a file
 * without frees it cannot be found. */
static int find_leak(const struct case_file *c, struct ml_error *err)
{
    const struct ml_oom *o = c->oom;
    struct ml_leaks_opts opts = {.device = o->device,
                                 .pid = o->pid,
                                 .warm_up = ML_LEAK_WARM_UP,
                                 .until_ns = o->refusal.time_ns,
                                 .top = LEAKS_CONSIDERED};
    struct ml_error ignored = {0};
    int r;

    ml_leaks_release(c->leaks); /* of the refusal before */
    r = ml_leaks(c->trace, &opts, c->leaks, &ignored);
    if (r == -EINVAL || r == -ENOENT || r == -ENODEV)
        return 0;
    if (r == 0 && is_preparing(c))
        ml_leaks_release(c->leaks);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

static uint64_t age_of(const struct ml_oom *o, uint64_t sample_ns)
{
    return o->refusal.time_ns > sample_ns ? o->refusal.time_ns - sample_ns : 0;
}

/* The figures of the device and the process, as last sampled. */
static int find_figures(struct case_file *c, struct ml_error *err)
{
    struct ml_oom *o = c->oom;
    int r = ml_device_figures(c->trace, o->refusal.event, o->refusal.time_ns, &o->driver, 1, err);

    if (r == 0 && o->host)
        r = ml_address_space(c->trace, o->refusal.event, &o->addresses, err);
    o->sampled_free = o->driver.free;
    o->free_age_ns = age_of(o, o->driver.time_ns);
    o->driver.free.known &= o->free_age_ns <= ML_OOM_OLD_NS;
    o->addresses.used.known &= age_of(o, o->addresses.time_ns) <= ML_OOM_OLD_NS;
    return r;
}

static int examine(struct case_file *c, struct ml_error *err)
{
    struct ml_oom *o = c->oom;
    struct ml_snapshot_opts at = {.at = {.kind = ML_AT_OOM, .number = o->refusal.overall}};
    int r;

    if (o->refusal.killed)
        at.at = (struct ml_at){.kind = ML_AT_TIME, .time_ns = o->refusal.time_ns};
    r = find_figures(c, err);
    if (r == 0)
        r = ml_snapshot(c->trace, &at, &o->holders.at, &c->replay, err);
    if (r == 0)
        r = ml_snapshot_narrow(&o->holders.at, &c->replay, o->device);
    if (r < 0)
        return r;
    o->live_bytes = o->holders.at.bytes;
    o->live_blocks = o->holders.at.blocks;
    c->map.at.device_index = o->holders.at.device_index;
    r = ml_modules_init(&c->modules, c->trace);
    if (r == 0)
        r = name_asker(c);
    if (r == 0)
        r = find_free(c);
    if (r == 0 && o->torch && o->driver.free.known)
        r = ml_allocator_limit(c->trace, o->device, o->pid, &o->place.limit, err);
    if (r < 0)
        return r;
    ml_oom_judge(o);
    if (o->has_segments) /* what the allocator may still take, not what the driver has */
        o->place.driver.free = (struct ml_seen){true, o->least_capacity - o->place.bytes};
    ml_free_place_settle(&o->place);
    r = list_holders(c);
    if (r == 0)
        r = ml_block_types(c->trace, o->refusal.event, &c->types, err);
    if (r == 0)
        r = find_leak(c, err);
    return r < 0
               ? r
               : ml_oom_changes(&c->replay, &c->map, &c->types, &c->modules, c->leaks, o, c->arena);
}

static void release_oom(struct ml_oom *oom)
{
    ml_breakdown_release(&oom->holders);
    ml_vec_release(&oom->changes);
}

static int tell(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                const struct ml_refusal *refusal, struct ml_oom_report *ret, struct ml_error *err)
{
    struct ml_oom oom = {.refusal = *refusal};
    struct case_file c = {
        .trace = trace, .opts = opts, .arena = &ret->at.arena, .oom = &oom, .leaks = &ret->leaks};
    int r = name_place(&c);

    if (r == 0)
        r = examine(&c, err);
    if (r == 0)
        r = ml_vec_push(&ret->list, oom);
    if (r < 0)
        release_oom(&oom);
    ml_block_types_release(&c.types);
    ml_free_space_release(&c.free);
    ml_segment_map_release(&c.map);
    ml_modules_release(&c.modules);
    ml_replay_release(&c.replay);
    return r;
}

/* ---- The requested refusals -------------------------------------------- */

static int none(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                const struct ml_refusals *refusals, struct ml_error *err)
{
    struct ml_at wanted = {.kind = ML_AT_OOM, .number = ml_max_u64(opts->number, 1)};
    struct ml_instant unused;

    if (refusals->list.len < wanted.number && opts->pid)
        return ml_error_set(err, -ENOENT, "no such allocation of process %u was refused",
                            opts->pid);
    if (refusals->list.len < wanted.number) /* its error lists the existing devices and refusals */
        return ml_instant_find(trace, &wanted, opts->device, &unused, err);
    return ml_error_set(err, -ENOENT,
                        "the driver refused %" PRIu64
                        " times, but the program then got its memory; "
                        "--at oom:1 shows the first",
                        refusals->recovered);
}

static int tell_all(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                    struct ml_oom_report *ret, struct ml_error *err)
{
    const struct ml_refusals *all = &ret->refusals;
    size_t skip = all->standing > ML_OOM_SHOWN ? (size_t)all->standing - ML_OOM_SHOWN : 0;
    int r = 0;

    if (opts->number)
        return opts->number <= all->list.len
                   ? tell(trace, opts, &all->list.items[opts->number - 1], ret, err)
                   : none(trace, opts, all, err);
    if (all->standing == 0)
        return none(trace, opts, all, err);
    for (size_t i = 0; r == 0 && i < all->list.len; i++) {
        if (all->list.items[i].state != ML_REFUSAL_STANDS)
            continue;
        if (ret->left_out < skip)
            ret->left_out++;
        else
            r = tell(trace, opts, &all->list.items[i], ret, err);
    }
    return r;
}

int ml_oom_report(const struct ml_trace *trace, const struct ml_oom_opts *opts,
                  struct ml_oom_report *ret, struct ml_error *err)
{
    int r;

    *ret = (struct ml_oom_report){0};
    ml_snapshot_begin(trace, &ret->at);
    r = ml_check_process(trace, opts->pid, err);
    if (r == 0)
        r = ml_refusals(trace, opts->device, opts->pid, &ret->refusals, err);
    if (r == 0)
        r = tell_all(trace, opts, ret, err);
    if (r == 0)
        ret->at.instant.health = ret->list.items[0].holders.at.instant.health;
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}

void ml_oom_report_release(struct ml_oom_report *report)
{
    for (size_t i = 0; i < report->list.len; i++)
        release_oom(&report->list.items[i]);
    ml_vec_release(&report->list);
    ml_leaks_release(&report->leaks);
    ml_refusals_release(&report->refusals);
    ml_snapshot_release(&report->at);
}
