/* tag_list.c: see tag_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tag_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "cuda_spaces.h"
#include "instant.h"
#include "memledger/memledger.h"
#include "replay.h"
#include "samples.h"
#include "tags.h"

#define CUDA "cuda"
#define PINNED_DEVICE "cpu_pinned"

/* ---- Selected spaces ---------------------------------------------------- */

static const char *device_of(const struct ml_trace *trace, uint32_t space)
{
    return ml_trace_string(trace, ml_trace_space(trace, space)->device, NULL);
}

static bool is_gpu(const char *device)
{
    return strncmp(device, CUDA, strlen(CUDA)) == 0;
}

bool ml_trace_has_gpu(const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++)
        if (is_gpu(device_of(trace, i)))
            return true;
    return false;
}

static bool is_pinned(const struct ml_trace *trace, uint32_t space)
{
    const char *name = ml_trace_string(trace, ml_trace_space(trace, space)->name, NULL);

    return strcmp(name, ML_CUDA_PINNED) == 0 || strcmp(device_of(trace, space), PINNED_DEVICE) == 0;
}

static bool is_on_device(const struct ml_trace *trace, uint32_t space, const char *asked,
                         bool gpu_only)
{
    if (asked)
        return ml_device_is(device_of(trace, space), asked);
    return !gpu_only || is_gpu(device_of(trace, space)) || is_pinned(trace, space);
}

bool ml_trace_has_mxnet_pool(const struct ml_trace *trace, const char *device)
{
    bool driver = false, mxnet = false;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *s = ml_trace_space(trace, i);

        if (!is_gpu(device_of(trace, i)) || !is_on_device(trace, i, device, true))
            continue;
        driver = driver || (s->level == MEMLEDGER_DRIVER && !ml_is_drivers_own(trace, i));
        mxnet = mxnet || strcmp(ml_trace_string(trace, s->name, NULL), ML_MXNET_SPACE_NAME) == 0;
    }
    return driver && mxnet;
}

bool ml_trace_has_libc_alone(const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const char *name = ml_trace_string(trace, ml_trace_space(trace, i)->name, NULL);

        if (strcmp(name, ML_HEAP_SPACE_NAME) != 0 && strcmp(name, ML_MAP_SPACE_NAME) != 0)
            return false;
    }
    return ml_trace_spaces(trace) > 0 && ml_trace_scopes(trace) <= 1;
}

bool ml_trace_has_torch_alone(const struct ml_trace *trace)
{
    bool torch = false;

    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const char *name = ml_trace_string(trace, ml_trace_space(trace, i)->name, NULL);

        if (strcmp(name, ML_MXNET_SPACE_NAME) == 0)
            return false;
        torch = torch || strcmp(name, ML_TORCH_SPACE_NAME) == 0;
    }
    return torch;
}

/* The use of a space's blocks. */
enum use {
    IGNORED,
    NAMING, /* they give listed allocations their names */
    LISTED,
    LISTED_IF_COUNTED,
};

struct maker {
    const struct ml_trace *trace;
    const struct ml_tag_list_opts *opts;
    struct ml_tag_list *ret;
    bool gpu_only;
    ML_VEC(uint8_t) uses; /* enum use, by space: looked up for millions of blocks */
    struct ml_tags tags;
    struct ml_buf tag;
};

static enum use decide(const struct maker *m, uint32_t space)
{
    const struct ml_space *s = ml_trace_space(m->trace, space);

    if (!is_on_device(m->trace, space, m->opts->device, m->gpu_only))
        return IGNORED;
    if (m->opts->level == 0 || (m->gpu_only && is_pinned(m->trace, space)))
        return LISTED_IF_COUNTED;
    if (s->level == m->opts->level)
        return ml_is_drivers_own(m->trace, space) ? IGNORED : LISTED;
    return s->level == MEMLEDGER_BLOCK ? NAMING : IGNORED;
}

static int decide_all(struct maker *m)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < ml_trace_spaces(m->trace); i++)
        r = ml_vec_push(&m->uses, (uint8_t)decide(m, i));
    return r;
}

static enum use use_of(const struct maker *m, uint32_t space, bool counted)
{
    enum use use = space < m->uses.len ? (enum use)m->uses.items[space] : IGNORED;

    if (use == LISTED_IF_COUNTED)
        return counted ? LISTED : IGNORED;
    return use;
}

/* ---- Tags --------------------------------------------------------------- */

/* @return its number + 1, 0: it has none, or -ENOMEM */
static int64_t class_of(struct maker *m, const struct ml_block *block)
{
    int64_t module = ml_modules_of(&m->tags.modules, block);
    uint32_t name = module < 0 ? 0 : m->tags.modules.list.items[module].class_name;
    uint32_t len = 0;
    const char *text = name ? ml_trace_string(m->trace, name, &len) : NULL;
    int64_t number = text ? ml_intern_put(&m->ret->tags, text, len, NULL) : -1;

    if (module < 0 || !text)
        return module < 0 ? module : 0;
    return number < 0 ? number : number + 1;
}

/* Sets tag and class. @return 0 or -ENOMEM */
static int name_entry(struct maker *m, const struct ml_block *block, uint32_t space,
                      uint64_t end_ns, struct ml_tagged *entry)
{
    int64_t tag, class_name;
    int r;

    ml_buf_clear(&m->tag);
    r = ml_tag_of(&m->tags, block, space, end_ns, &m->tag);
    tag = r < 0 ? r : ml_intern_put(&m->ret->tags, m->tag.data, m->tag.len, NULL);
    class_name = tag < 0 ? tag : class_of(m, block);
    if (class_name < 0)
        return (int)class_name;
    entry->tag = (uint32_t)tag;
    entry->class_name = (uint32_t)class_name;
    return 0;
}

static int by_ordinal(const void *a, const void *b)
{
    const struct ml_allocation *x = a, *y = b;

    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* ---- All allocations ---------------------------------------------------- */

typedef ML_VEC(struct ml_allocation) allocation_list;

static int gather(struct maker *m, allocation_list *ret, struct ml_error *err)
{
    struct ml_allocations *reader = NULL;
    const struct ml_allocation *batch;
    uint64_t total = ml_trace_info(m->trace)->end_ns;
    int n = 0, r = ml_allocations_open(m->trace, &reader, err);

    while (r == 0 && (n = ml_allocations_next(reader, &batch, err)) > 0) {
        for (int i = 0; r == 0 && i < n; i++)
            if (batch[i].ordinal != ML_NO_ORDINAL &&
                use_of(m, batch[i].space, batch[i].counted) != IGNORED)
                r = ml_vec_push(ret, batch[i]);
        ml_progress_tell(m->opts->progress, batch[n - 1].time_ns, total);
    }
    ml_allocations_free(reader);
    if (r == 0 && n < 0)
        r = n;
    if (r == 0)
        ml_vec_sort(ret, by_ordinal);
    return r;
}

uint64_t ml_address_key(const struct ml_trace *trace, uint32_t space, uint64_t addr)
{
    return addr ^ (uint64_t)ml_trace_space(trace, space)->process << 48;
}

/* @unnamed  address -> index + 1 of the listed allocation there, until its first block comes */
static int list_one(struct maker *m, const struct ml_allocation *a, struct ml_map *unnamed)
{
    struct ml_block block = {
        .addr = a->addr,
        .size = a->size,
        .time_ns = a->time_ns,
        .scope = a->scope,
        .label = a->label,
        .category = a->category,
    };
    struct ml_tagged entry = {
        .bytes = a->size,
        .requested = a->requested,
        .addr = a->addr,
        .time_ns = a->time_ns,
        .ordinal = a->ordinal,
        .space = a->space,
        .scope = a->scope,
        .stack = a->stack,
    };
    int r = name_entry(m, &block, a->space, a->ended ? a->end_ns : UINT64_MAX, &entry);
    uint64_t around;

    if (r < 0)
        return r;
    if (use_of(m, a->space, a->counted) == NAMING) {
        if (ml_map_take(unnamed, ml_address_key(m->trace, a->space, a->addr), &around)) {
            m->ret->list.items[around].tag = entry.tag;
            m->ret->list.items[around].class_name = entry.class_name;
        }
        return 0;
    }
    if (m->opts->level &&
        ml_map_put(unnamed, ml_address_key(m->trace, a->space, a->addr), m->ret->list.len) < 0)
        return -ENOMEM;
    m->ret->bytes += a->size;
    return ml_vec_push(&m->ret->list, entry);
}

static int list_gross(struct maker *m, struct ml_error *err)
{
    allocation_list all = {0};
    struct ml_map unnamed = {0};
    int r = gather(m, &all, err);

    for (size_t i = 0; r == 0 && i < all.len; i++)
        r = list_one(m, &all.items[i], &unnamed);
    ml_vec_release(&all);
    ml_map_release(&unnamed);
    return r;
}

static int list_run(struct maker *m, struct ml_error *err)
{
    ml_snapshot_begin(m->trace, &m->ret->at);
    return list_gross(m, err);
}

/* ---- Live at an instant ------------------------------------------------- */

/* The listed blocks of the frozen table, in the order of allocation. */
typedef ML_VEC(const struct ml_block *) block_list;

static int by_birth(const void *a, const void *b)
{
    const struct ml_block *x = *(const struct ml_block *const *)a;
    const struct ml_block *y = *(const struct ml_block *const *)b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static int gather_live(const struct maker *m, const struct ml_replay *replay, block_list *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < replay->blocks.len; i++) {
        const struct ml_block *b = &replay->blocks.items[i];
        const struct ml_replay_space *s = &replay->spaces.items[b->space];

        if (b->live && !s->ended && use_of(m, s->number, s->counted) == LISTED)
            r = ml_vec_push(ret, b);
    }
    ml_vec_sort(ret, by_birth);
    return r;
}

static int list_live(struct maker *m, const struct ml_replay *replay, const block_list *blocks)
{
    for (size_t i = 0; i < blocks->len; i++) {
        const struct ml_block *b = blocks->items[i];
        uint32_t space = replay->spaces.items[b->space].number;
        struct ml_tagged entry = {.bytes = b->size,
                                  .requested = b->size,
                                  .addr = b->addr,
                                  .time_ns = b->time_ns,
                                  .ordinal = i,
                                  .space = space,
                                  .scope = b->scope,
                                  .stack = b->stack};
        int r = name_entry(m, b, space, UINT64_MAX, &entry);

        if (r == 0)
            r = ml_vec_push(&m->ret->list, entry);
        if (r < 0)
            return r;
        m->ret->bytes += b->size;
    }
    return 0;
}

/* Keeps only the live ones of all allocations; the blocks that name them may have been freed long
 * ago. */
static int keep_live(struct maker *m, const struct ml_replay *replay, const block_list *blocks)
{
    struct ml_map births = {0};
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < blocks->len; i++) {
        const struct ml_block *b = blocks->items[i];
        uint32_t space = replay->spaces.items[b->space].number;

        r = ml_map_put(&births, ml_address_key(m->trace, space, b->addr), b->time_ns);
    }
    m->ret->bytes = 0;
    for (size_t i = 0; r == 0 && i < m->ret->list.len; i++) {
        const struct ml_tagged *entry = &m->ret->list.items[i];
        uint64_t time_ns;

        if (!ml_map_get(&births, ml_address_key(m->trace, entry->space, entry->addr), &time_ns) ||
            time_ns != entry->time_ns)
            continue;
        m->ret->bytes += entry->bytes;
        m->ret->list.items[kept++] = *entry;
    }
    m->ret->list.len = kept;
    ml_map_release(&births);
    return r;
}

static int list_instant(struct maker *m, struct ml_error *err)
{
    struct ml_snapshot_opts at = {.at = m->opts->at, .device = m->opts->device};
    struct ml_replay replay;
    block_list blocks = {0};
    int r = ml_snapshot(m->trace, &at, &m->ret->at, &replay, err);

    if (r == 0)
        r = gather_live(m, &replay, &blocks);
    if (r == 0 && m->opts->level != 0 && m->opts->level != MEMLEDGER_BLOCK) {
        r = list_gross(m, err);
        if (r == 0)
            r = keep_live(m, &replay, &blocks);
    } else if (r == 0) {
        r = list_live(m, &replay, &blocks);
    }
    m->ret->at.bytes = m->ret->bytes;
    m->ret->at.blocks = m->ret->list.len;
    ml_vec_release(&blocks);
    ml_replay_release(&replay);
    return r;
}

int ml_tag_list(const struct ml_trace *trace, const struct ml_tag_list_opts *opts,
                struct ml_tag_list *ret, struct ml_error *err)
{
    struct maker m = {
        .trace = trace, .opts = opts, .ret = ret, .gpu_only = ml_trace_has_gpu(trace)};
    int r;

    *ret = (struct ml_tag_list){
        .gross = opts->gross, .torch = ml_trace_has_torch_alone(trace), .level = opts->level};
    r = ml_check_blocks(trace, err);
    if (r == 0)
        r = ml_tags_init(&m.tags, trace);
    if (r == 0)
        r = decide_all(&m);
    if (r == 0)
        r = opts->gross ? list_run(&m, err) : list_instant(&m, err);
    if (r == 0)
        r = ml_tag_list_name_devices(trace, ret);
    ml_tags_release(&m.tags);
    ml_vec_release(&m.uses);
    ml_buf_release(&m.tag);
    return r;
}

void ml_tag_list_release(struct ml_tag_list *list)
{
    ml_intern_release(&list->tags);
    ml_vec_release(&list->list);
    ml_snapshot_release(&list->at);
    *list = (struct ml_tag_list){0};
}

const char *ml_tagged_name(const struct ml_tag_list *list, const struct ml_tagged *entry)
{
    return ml_intern_get(&list->tags, entry->tag, NULL);
}

const char *ml_tagged_class(const struct ml_tag_list *list, const struct ml_tagged *entry)
{
    return entry->class_name ? ml_intern_get(&list->tags, entry->class_name - 1, NULL) : NULL;
}
