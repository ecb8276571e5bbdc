/* torch_device.c: see torch_device.h.
 *
 * As in a recording, segments are at the driver level and blocks at the block level. A block is
 * freed when its tensor is freed, as torch.cuda.memory_allocated() counts; its space can be
 * reused once no stream uses it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_spaces.h"
#include "memledger/memledger.h"

struct ml_event ml_torch_event(const struct ml_torch_device *d, enum ml_kind kind)
{
    return (struct ml_event){
        .kind = (uint8_t)kind,
        .time_ns = d->now_ns,
        .thread = d->thread,
        .space = d->blocks,
        .scope = d->scope,
    };
}

/* ---- Spaces ---------------------------------------------------------------------- */

static int pools_by_start(const void *a, const void *b)
{
    const struct ml_torch_pool *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int find_pools(struct ml_torch_device *d, uint32_t process, const char *device)
{
    struct ml_torch_snapshot *t = d->t;

    for (size_t i = 0; i < t->segments.len; i++) {
        const struct ml_torch_segment *s = &t->segments.items[i];
        char name[64];

        if (s->device != d->number || (s->pool[0] == 0 && s->pool[1] == 0))
            continue;
        snprintf(name, sizeof(name), ML_TORCH_SPACE_NAME " pool %" PRIu64 ".%" PRIu64, s->pool[0],
                 s->pool[1]);
        if (ml_vec_push(&d->pools, (struct ml_torch_pool){s->addr, s->addr + s->size,
                                                          ml_import_space(t->sink, process, device,
                                                                          MEMLEDGER_BLOCK, name)}) <
            0)
            return -ENOMEM;
    }
    ml_vec_sort(&d->pools, pools_by_start);
    return 0;
}

/* Entries do not name their pool; the segments at the end do. */
static uint32_t space_at(const struct ml_torch_device *d, uint64_t addr)
{
    size_t low = 0, high = d->pools.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (d->pools.items[middle].end > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low < d->pools.len && d->pools.items[low].start <= addr ? d->pools.items[low].space
                                                                   : d->blocks;
}

/* Skips the annotations of other devices. */
static void skip_annotations(struct ml_torch_device *d)
{
    const struct ml_torch_snapshot *t = d->t;

    while (d->next_annotation < t->annotations.len &&
           t->annotations.items[d->next_annotation].device != d->number)
        d->next_annotation++;
}

int ml_torch_device_init(struct ml_torch_device *d, struct ml_torch_snapshot *t, uint32_t number,
                         uint64_t start_us)
{
    struct ml_import_sink *sink = t->sink;
    uint32_t process = ml_import_process(sink, 0, "");
    char name[32];

    snprintf(name, sizeof(name), ML_CUDA_DEVICE_PREFIX "%" PRIu32, number);
    *d = (struct ml_torch_device){
        .t = t,
        .number = number,
        .name = ml_dict_cstr(&sink->dict, name),
        .thread = ml_import_thread(sink, process, 0, name),
        .blocks = ml_import_space(sink, process, name, MEMLEDGER_BLOCK, ML_TORCH_SPACE_NAME),
        .segments = ml_import_space(sink, process, name, MEMLEDGER_DRIVER, ML_CUDA_MEMORY),
        .mapped = ml_import_space(sink, process, name, MEMLEDGER_DRIVER, ML_CUDA_VIRTUAL),
        .start_us = start_us,
        .layout.settings = &t->settings,
    };
    if (number < t->traces.len) {
        d->next_entry = t->traces.items[number].first;
        d->end_entry = d->next_entry + t->traces.items[number].count;
    }
    skip_annotations(d);
    return find_pools(d, process, name);
}

void ml_torch_device_release(struct ml_torch_device *d)
{
    ml_torch_layout_release(&d->layout);
    ml_vec_release(&d->pools);
    ml_vec_release(&d->open);
    ml_vec_release(&d->calls);
}

/* ---- Blocks and segments ------------------------------------------------------------ */

struct birth {
    uint64_t addr, bytes, requested, stream;
    uint32_t stack, scope;
    struct ml_torch_purpose purpose;
};

static void put_category(struct ml_torch_device *d, const struct birth *b)
{
    struct ml_event event = ml_torch_event(d, ML_LABEL);

    event.space = space_at(d, b->addr);
    event.addr = b->addr;
    event.args[0] = b->purpose.label;
    event.args[1] = b->purpose.category;
    ml_import_event(d->t->sink, &event);
}

static int put_block(struct ml_torch_device *d, const struct birth *b)
{
    bool plain = b->requested == b->bytes && b->stream == 0;
    struct ml_event event = ml_torch_event(d, plain ? ML_ALLOC : ML_ALLOC_EX);

    event.space = space_at(d, b->addr);
    event.addr = b->addr;
    event.size = b->bytes;
    event.stack = b->stack;
    event.scope = b->scope;
    if (!plain) {
        event.args[0] = b->requested;
        event.args[1] = b->stream;
    }
    ml_import_event(d->t->sink, &event);
    if (b->purpose.category != MEMLEDGER_OTHER)
        put_category(d, b);
    return ml_torch_layout_add_block(&d->layout, b->addr, b->bytes);
}

static void put_segment(struct ml_torch_device *d, uint32_t space, uint64_t addr, uint64_t bytes,
                        uint32_t stack)
{
    struct ml_event event = ml_torch_event(d, ML_ALLOC);

    event.space = space;
    event.addr = addr;
    event.size = bytes;
    event.stack = stack;
    ml_import_event(d->t->sink, &event);
}

static void put_free(struct ml_torch_device *d, uint32_t space, uint64_t addr)
{
    struct ml_event event = ml_torch_event(d, ML_FREE);

    event.space = space;
    event.addr = addr;
    ml_import_event(d->t->sink, &event);
}

/* Of a block that existed before the trace and was freed, only the rounding is known. */
static uint64_t past_bytes(struct ml_torch_device *d, const struct ml_torch_block *block)
{
    if (block->exact)
        return block->size;
    ml_import_unknown(d->t->sink, ML_UNKNOWN_SIZES);
    return ml_torch_rounded(&d->t->settings, block->size);
}

static int put_past(struct ml_torch_device *d, const struct ml_torch_past *past)
{
    struct ml_dict *dict = &d->t->sink->dict;
    struct ml_dict_scope before = {.kind = MEMLEDGER_SCOPE_USER,
                                   .name = ml_dict_cstr(dict, "before the snapshot's trace")};
    int r = 0;

    ml_import_unknown(d->t->sink, ML_UNKNOWN_BIRTHS);
    d->scope = ml_dict_scope(dict, &before);
    for (size_t i = 0; i < past->segments.len && r == 0; i++) {
        const struct ml_torch_segment *s = &past->segments.items[i];

        put_segment(d, d->segments, s->addr, s->size, s->stack);
        r = ml_torch_layout_add_segment(&d->layout, s->addr, s->size);
    }
    for (size_t i = 0; i < past->mapped.list.len; i++) {
        const struct ml_torch_range *range = &past->mapped.list.items[i];

        put_segment(d, d->mapped, range->start, range->end - range->start, 0);
    }
    for (size_t i = 0; i < past->blocks.len && r == 0; i++) {
        const struct ml_torch_block *b = &past->blocks.items[i];

        r = put_block(d, &(struct birth){b->addr, past_bytes(d, b), b->requested, 0, b->stack,
                                         d->scope, ml_torch_kept_purpose(d, b->stack)});
    }
    d->scope = 0;
    return r;
}

int ml_torch_put_past(struct ml_torch_device *d)
{
    struct ml_torch_past past;
    int r = ml_torch_past_find(d->t, d->number, &past);

    if (r == 0 && (past.blocks.len || past.segments.len || past.mapped.list.len))
        r = put_past(d, &past);
    ml_torch_past_release(&past);
    return r;
}

/* ---- Entries ------------------------------------------------------------------------ */

/* The scopes that the user and torch.compile give an entry, below its annotations. */
static uint32_t scope_of(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    const uint32_t names[] = {e->context, e->metadata};
    uint32_t scope = d->scope;

    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++)
        if (names[i])
            scope = ml_dict_scope(&d->t->sink->dict, &(struct ml_dict_scope){
                                                         .parent = scope,
                                                         .kind = MEMLEDGER_SCOPE_USER,
                                                         .name = names[i],
                                                     });
    return scope;
}

static int put_alloc(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    uint64_t bytes = e->slack != ML_TORCH_SLACK_UNKNOWN
                         ? e->size + e->slack
                         : ml_torch_block_bytes(&d->layout, e->addr, e->size);

    return put_block(d, &(struct birth){e->addr, bytes, e->size, e->stream, e->stack,
                                        scope_of(d, e), ml_torch_new_purpose(d, e)});
}

static void put_unmap(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    struct ml_event event = ml_torch_event(d, ML_FREE_RANGE);

    event.space = d->mapped;
    event.addr = e->addr;
    event.size = e->size;
    ml_import_event(d->t->sink, &event);
}

/* A failed allocation, and the free memory that the driver reported. */
static void put_oom(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    struct ml_event event = ml_torch_event(d, ML_OOM), sample = ml_torch_event(d, ML_SAMPLE);

    if (e->has_addr) {
        sample.args[0] = d->name;
        sample.args[1] = ML_SAMPLE_FREE;
        sample.args[3] = e->addr;
        ml_import_event(d->t->sink, &sample);
    }
    event.size = e->size;
    event.stack = e->stack;
    event.scope = scope_of(d, e);
    ml_import_event(d->t->sink, &event);
}

static void put_marker(struct ml_torch_device *d, uint32_t name)
{
    struct ml_event event = ml_torch_event(d, ML_MARKER);

    event.args[1] = name;
    event.args[2] = ml_dict_cstr(&d->t->sink->dict, "process");
    ml_import_event(d->t->sink, &event);
}

static int put_entry(struct ml_torch_device *d, const struct ml_torch_history_entry *e)
{
    switch ((enum ml_torch_action)e->action) {
    case ML_TORCH_ALLOC: return put_alloc(d, e);
    case ML_TORCH_FREE_REQUESTED: put_free(d, space_at(d, e->addr), e->addr); return 0;
    case ML_TORCH_FREE_COMPLETED: ml_torch_layout_remove_block(&d->layout, e->addr); return 0;
    case ML_TORCH_SEGMENT_ALLOC:
        put_segment(d, d->segments, e->addr, e->size, e->stack);
        return ml_torch_layout_add_segment(&d->layout, e->addr, e->size);
    case ML_TORCH_SEGMENT_FREE:
        put_free(d, d->segments, e->addr);
        ml_torch_layout_remove_segment(&d->layout, e->addr);
        return 0;
    case ML_TORCH_SEGMENT_MAP: put_segment(d, d->mapped, e->addr, e->size, e->stack); return 0;
    case ML_TORCH_SEGMENT_UNMAP: put_unmap(d, e); return 0;
    case ML_TORCH_OOM: put_oom(d, e); return 0;
    case ML_TORCH_SNAPSHOT: put_marker(d, ml_dict_cstr(&d->t->sink->dict, "snapshot")); return 0;
    case ML_TORCH_OTHER: put_marker(d, e->metadata); return 0;
    }
    return 0;
}

/* ---- In order -------------------------------------------------------------------------- */

static const struct ml_torch_history_entry *peek_entry(const struct ml_torch_device *d)
{
    return d->next_entry < d->end_entry ? &d->t->entries.items[d->next_entry] : NULL;
}

static const struct ml_torch_annotation *peek_annotation(const struct ml_torch_device *d)
{
    const struct ml_torch_snapshot *t = d->t;

    return d->next_annotation < t->annotations.len ? &t->annotations.items[d->next_annotation]
                                                   : NULL;
}

/* At equal times, the begin of a range comes before an allocation and the end after it. */
static bool annotation_is_first(const struct ml_torch_history_entry *e,
                                const struct ml_torch_annotation *a)
{
    if (!a || !e || a->time_us == e->time_us)
        return a && (!e || !a->ends);
    return a->time_us < e->time_us;
}

bool ml_torch_next_us(const struct ml_torch_device *d, uint64_t *ret)
{
    const struct ml_torch_history_entry *e = peek_entry(d);
    const struct ml_torch_annotation *a = peek_annotation(d);

    if (!e && !a)
        return false;
    *ret = annotation_is_first(e, a) ? a->time_us : e->time_us;
    return true;
}

static void set_clock(struct ml_torch_device *d, uint64_t time_us)
{
    uint64_t since_us = time_us > d->start_us ? time_us - d->start_us : 0;

    if (since_us > UINT64_MAX / 1000)
        since_us = UINT64_MAX / 1000;
    if (since_us * 1000 > d->now_ns)
        d->now_ns = since_us * 1000;
}

int ml_torch_put_next(struct ml_torch_device *d)
{
    const struct ml_torch_history_entry *e = peek_entry(d);
    const struct ml_torch_annotation *a = peek_annotation(d);

    if (annotation_is_first(e, a)) {
        set_clock(d, a->time_us);
        d->next_annotation++;
        skip_annotations(d);
        return ml_torch_put_annotation(d, a);
    }
    set_clock(d, e->time_us);
    d->next_entry++;
    return ml_torch_follow(d, e) < 0 ? -ENOMEM : put_entry(d, e);
}
