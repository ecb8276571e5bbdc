/* pool_entries.c: see pool_entries.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pool_entries.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_spaces.h"
#include "memledger/memledger.h"
#include "sampled_total.h"
#include "unknowns.h"

#define NO_BLOCK UINT64_MAX
#define POOL "mxnet pool" /* the space of the host's pool */
#define REUSED "reused"   /* the scope of reused blocks in an imported profile */

struct maker {
    const struct ml_trace *trace;
    const struct ml_pool_opts *opts;
    struct ml_pool_entries *ret;
    struct ml_tag_list born;  /* every block */
    struct ml_tag_list live;  /* blocks at the instant */
    struct ml_tag_list taken; /* driver allocations at the instant; may be empty */
    bool has_gpu, imported;
    struct ml_map last;      /* process and address -> index in born of the last block there */
    ML_VEC(uint64_t) before; /* by block in born: the previous one at its address */
    ML_VEC(uint64_t) starts; /* of live blocks, sorted */
};

/* ---- Names -------------------------------------------------------------- */

#define UUID_BYTES 37 /* "01234567_89ab_cdef_0123_456789abcdef_" */

static bool is_uuid(const char *at)
{
    static const uint8_t groups[] = {8, 4, 4, 4, 12};

    for (size_t i = 0; i < sizeof(groups); i++, at++) {
        for (size_t digit = 0; digit < groups[i]; digit++, at++)
            if (!isxdigit((unsigned char)*at))
                return false;
        if (*at != '_')
            return false;
    }
    return true;
}

/* Removes the UUID prefix that Gluon generates; the rest of the word after one is not searched. */
static const char *plain_name(struct maker *m, const char *tag)
{
    char *copy = ml_arena_dup(&m->ret->arena, tag, strlen(tag));

    for (char *at = copy; at && *at; at++)
        if (is_uuid(at)) {
            memmove(at, at + UUID_BYTES, strlen(at + UUID_BYTES) + 1);
            at += strcspn(at, " ");
            if (!*at)
                break;
        }
    return copy;
}

/* ---- Entries ------------------------------------------------------------ */

static uint32_t pid_of(const struct maker *m, uint32_t space)
{
    return ml_trace_process(m->trace, ml_trace_space(m->trace, space)->process)->pid;
}

/* If the trace has GPUs, MXNet's profile covers only them. */
static bool is_profiled(const struct maker *m, const struct ml_tagged *entry)
{
    const char *device =
        ml_trace_string(m->trace, ml_trace_space(m->trace, entry->space)->device, NULL);

    if (m->opts->pid && pid_of(m, entry->space) != m->opts->pid)
        return false;
    return !m->has_gpu ||
           strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0;
}

/* Whether an imported profile marks the block as reused. */
static bool is_told_reused(const struct maker *m, const struct ml_tagged *entry)
{
    uint32_t name = ml_trace_scope(m->trace, entry->scope)->name;

    return m->imported && entry->scope &&
           strcmp(ml_trace_string(m->trace, name, NULL), REUSED) == 0;
}

static int put(struct maker *m, const char *tag, uint32_t space, uint64_t requested,
               uint64_t actual, bool reused)
{
    const char *device = ml_trace_string(m->trace, ml_trace_space(m->trace, space)->device, NULL);
    struct ml_pool_entry entry = {
        .name = plain_name(m, tag),
        .device = ml_arena_dup(&m->ret->arena, device, strlen(device)),
        .requested_bytes = requested,
        .actual_bytes = actual,
        .pid = pid_of(m, space),
        .reused = reused,
    };

    return entry.name && entry.device ? ml_vec_push(&m->ret->list, entry) : -ENOMEM;
}

static uint64_t key_of(const struct maker *m, const struct ml_tagged *entry)
{
    return ml_address_key(m->trace, entry->space, entry->addr);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Finds the last block at each address, and the addresses of live blocks. */
static int index_blocks(struct maker *m, uint64_t time_ns)
{
    for (size_t i = 0; i < m->born.list.len && m->born.list.items[i].time_ns <= time_ns; i++) {
        uint64_t before = NO_BLOCK, key = key_of(m, &m->born.list.items[i]);

        ml_map_get(&m->last, key, &before);
        if (ml_vec_push(&m->before, before) < 0 || ml_map_put(&m->last, key, i) < 0)
            return -ENOMEM;
    }
    for (size_t i = 0; i < m->live.list.len; i++)
        if (ml_vec_push(&m->starts, key_of(m, &m->live.list.items[i])) < 0)
            return -ENOMEM;
    ml_vec_sort(&m->starts, by_number);
    return 0;
}

/* Whether a live block starts inside it, after the first byte: the pool splits it. */
static bool is_cut_up(const struct maker *m, const struct ml_tagged *taken)
{
    size_t low = 0, high = m->starts.len;
    uint64_t key = key_of(m, taken);

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (m->starts.items[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->starts.len && m->starts.items[low] < ml_end_of(key, taken->bytes);
}

/* Whether the driver allocation had an earlier block at that address. */
static bool was_reused(const struct maker *m, const struct ml_tagged *taken, size_t last)
{
    uint64_t before = m->before.items[last];

    return before != NO_BLOCK && m->born.list.items[before].time_ns >= taken->time_ns;
}

static int put_taken(struct maker *m, const struct ml_tagged *taken, struct ml_map *held)
{
    const struct ml_tagged *block;
    uint64_t last;

    if (!is_profiled(m, taken) || is_cut_up(m, taken))
        return 0;
    if (!ml_map_get(&m->last, key_of(m, taken), &last) ||
        m->born.list.items[last].time_ns < taken->time_ns)
        return put(m, ml_tagged_name(&m->taken, taken), taken->space, taken->bytes, taken->bytes,
                   false);
    block = &m->born.list.items[last];
    if (ml_map_put(held, key_of(m, taken), 1) < 0)
        return -ENOMEM;
    return put(m, ml_tagged_name(&m->born, block), taken->space, block->requested, taken->bytes,
               was_reused(m, taken, last));
}

static int put_live(struct maker *m, const struct ml_tagged *block)
{
    uint64_t last, requested = block->bytes;

    /* The requested size is known from the allocation. */
    if (ml_map_get(&m->last, key_of(m, block), &last) &&
        m->born.list.items[last].time_ns == block->time_ns)
        requested = m->born.list.items[last].requested;
    return put(m, ml_tagged_name(&m->live, block), block->space, requested, block->bytes,
               is_told_reused(m, block));
}

static int put_all(struct maker *m)
{
    struct ml_map held = {0}; /* addresses of blocks that are listed as their driver allocation */
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->taken.list.len; i++)
        r = put_taken(m, &m->taken.list.items[i], &held);
    for (size_t i = 0; r == 0 && i < m->live.list.len; i++)
        if (is_profiled(m, &m->live.list.items[i]) &&
            !ml_map_get(&held, key_of(m, &m->live.list.items[i]), NULL))
            r = put_live(m, &m->live.list.items[i]);
    ml_map_release(&held);
    return r;
}

/* ---- Order and amends --------------------------------------------------- */

/* An imported profile contains its amends as blocks: they come last. */
static int by_name(const void *a, const void *b)
{
    const struct ml_pool_entry *x = a, *y = b;
    bool x_amends = strcmp(x->name, ML_POOL_AMEND) == 0,
         y_amends = strcmp(y->name, ML_POOL_AMEND) == 0;
    int order = x_amends != y_amends ? x_amends - y_amends : strcmp(x->name, y->name);

    if (order == 0)
        order = strcmp(x->device, y->device);
    if (order == 0)
        order =
            (x->requested_bytes > y->requested_bytes) - (x->requested_bytes < y->requested_bytes);
    return order ? order
                 : (x->actual_bytes > y->actual_bytes) - (x->actual_bytes < y->actual_bytes);
}

static int amend(struct maker *m, const char *device, uint64_t time_ns, struct ml_error *err)
{
    struct ml_sampled_total_opts opts = {
        .device = device, .pid = m->opts->pid, .time_ns = time_ns, .processes_only = true};
    struct ml_error none = {0};
    uint64_t used;
    int r = ml_sampled_total(m->trace, &opts, &used, &none);

    if (r == -ENODATA)
        return 0;
    if (r < 0)
        return ml_error_set(err, r, "%s", none.text);
    for (size_t i = 0; i < m->ret->list.len; i++)
        if (strcmp(m->ret->list.items[i].device, device) == 0)
            used -= m->ret->list.items[i].actual_bytes;
    return ml_vec_push(&m->ret->amends, (struct ml_pool_amend){device, (int64_t)used});
}

static bool is_new_device(const struct ml_pool_entries *entries, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(entries->list.items[i].device, entries->list.items[index].device) == 0)
            return false;
    return true;
}

static int by_device(const void *a, const void *b)
{
    return strcmp(((const struct ml_pool_amend *)a)->device,
                  ((const struct ml_pool_amend *)b)->device);
}

static int amend_all(struct maker *m, uint64_t time_ns, struct ml_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->ret->list.len; i++) {
        const char *device = m->ret->list.items[i].device;

        if (strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0 &&
            is_new_device(m->ret, i))
            r = amend(m, device, time_ns, err);
    }
    ml_vec_sort(&m->ret->amends, by_device);
    return r;
}

/* ---- The profile -------------------------------------------------------- */

/* The level of the memory that MXNet's pools hold, enum memledger_level; 0: none is recorded. The
 * host's pool, which 2.0 has, takes its memory from malloc. */
static unsigned pool_level(const struct maker *m)
{
    if (ml_trace_has_mxnet_pool(m->trace, m->opts->device))
        return MEMLEDGER_DRIVER;
    for (uint32_t i = 0; !m->has_gpu && i < ml_trace_spaces(m->trace); i++) {
        const struct ml_space *s = ml_trace_space(m->trace, i);

        if (s->level == MEMLEDGER_POOL && !strcmp(ml_trace_string(m->trace, s->name, NULL), POOL))
            return MEMLEDGER_POOL;
    }
    return 0;
}

static int read_lists(struct maker *m, struct ml_error *err)
{
    struct ml_tag_list_opts opts = {.device = m->opts->device, .at = m->opts->at};
    int r = ml_tag_list(m->trace, &opts, &m->live, err);

    if (r == 0) {
        opts.gross = true;
        r = ml_tag_list(m->trace, &opts, &m->born, err);
    }
    opts.level = pool_level(m);
    if (r == 0 && opts.level) {
        opts.gross = false;
        r = ml_tag_list(m->trace, &opts, &m->taken, err);
    }
    return r;
}

int ml_pool_entries(const struct ml_trace *trace, const struct ml_pool_opts *opts,
                    struct ml_pool_entries *ret, struct ml_error *err)
{
    const char *source = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);
    struct maker m = {
        .trace = trace,
        .opts = opts,
        .ret = ret,
        .has_gpu = ml_trace_has_gpu(trace),
        .imported = source && strcmp(source, "mxnet-pool-csv") == 0,
    };
    int r;

    *ret = (struct ml_pool_entries){0};
    r = read_lists(&m, err);
    if (r == 0)
        r = index_blocks(&m, m.live.at.instant.time_ns);
    if (r == 0)
        r = put_all(&m);
    if (r == 0)
        ml_vec_sort(&ret->list, by_name);
    if (r == 0)
        r = amend_all(&m, m.live.at.instant.time_ns, err);
    ml_tag_list_release(&m.born);
    ml_tag_list_release(&m.live);
    ml_tag_list_release(&m.taken);
    ml_map_release(&m.last);
    ml_vec_release(&m.before);
    ml_vec_release(&m.starts);
    return r;
}

void ml_pool_entries_release(struct ml_pool_entries *entries)
{
    ml_vec_release(&entries->list);
    ml_vec_release(&entries->amends);
    ml_arena_release(&entries->arena);
    *entries = (struct ml_pool_entries){0};
}
