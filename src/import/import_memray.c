/* import_memray.c: files of `memray run`. memray_records.h describes the file, memray_stacks.h the
 * stacks.
 *
 * Events have the time of the last sample before them, which memray takes every 10 ms. A file of
 * `memray run --aggregate` has two sums for each stack: at the peak, and at the end. They become
 * blocks that are live then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import_formats.h"
#include "import_limits.h"
#include "memledger/memledger.h"
#include "memray_stacks.h"

#define NS_PER_MS UINT64_C(1000000)
#define PYTHON_SPACE_NAME "pymalloc"

struct thread {
    uint32_t number;
    bool main;
    ML_VEC(uint32_t) calls; /* Python stacks, one for each function it is in */
};

/* Of an aggregated file: a block that is live at the peak, or at the end, or both. */
struct sum {
    uint64_t both, peak_only, left_only; /* bytes */
    uint32_t thread, stack, space;
};

struct sample {
    uint64_t time_ns, resident;
    int64_t heap;
};

struct import {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_memray_file file;
    struct ml_memray_stacks stacks;
    uint64_t time_ns;
    uint32_t process, device;
    uint32_t malloc_space, map_space, python_space; /* + 1, 0: not defined yet */
    struct ml_map thread_numbers;                   /* memray's -> index */
    ML_VEC(struct thread) threads;
    size_t thread;      /* the current one + 1, 0: none yet */
    struct ml_map live; /* address -> space */
    ML_VEC(struct sum) sums;
    ML_VEC(struct sample) samples;
};

static int no_memory(const struct import *m, struct ml_error *err)
{
    return ml_error_set(err, -ENOMEM, "%s: not enough memory", m->source->name);
}

static int failure(const struct import *m, int r, struct ml_error *err)
{
    if (r == -ENOMEM)
        return no_memory(m, err);
    return ml_import_bad(m->source, err, "damaged: it refers to a frame that it does not define");
}

/* ---- Threads and spaces ------------------------------------------------------------- */

static int switch_thread(struct import *m, uint64_t number, struct ml_error *err)
{
    struct thread thread = {.main = number == m->file.main_thread};
    char name[32] = "";
    uint64_t index;

    if (ml_map_get(&m->thread_numbers, number, &index)) {
        m->thread = (size_t)index + 1;
        return 0;
    }
    /* The number is not the system's: it is part of the name until there is a better one. */
    if (!thread.main)
        snprintf(name, sizeof(name), "0x%" PRIx64, number);
    thread.number = ml_import_thread(m->sink, m->process, thread.main ? m->file.pid : 0, name);
    if (ml_map_put(&m->thread_numbers, number, m->threads.len) < 0 ||
        ml_vec_push(&m->threads, thread) < 0)
        return no_memory(m, err);
    m->thread = m->threads.len;
    return 0;
}

static struct thread *current(struct import *m)
{
    return m->thread ? &m->threads.items[m->thread - 1] : NULL;
}

static uint32_t space_of(struct import *m, enum ml_memray_kind kind, bool from_python)
{
    bool map = kind == ML_MEMRAY_MAP || kind == ML_MEMRAY_UNMAP;
    uint32_t *space = map ? &m->map_space : from_python ? &m->python_space : &m->malloc_space;

    if (!*space)
        *space = 1 + ml_import_space(m->sink, m->process, "cpu", MEMLEDGER_BLOCK,
                                     map           ? ML_MAP_SPACE_NAME
                                     : from_python ? PYTHON_SPACE_NAME
                                                   : ML_HEAP_SPACE_NAME);
    return *space - 1;
}

/* ---- Events ------------------------------------------------------------------------- */

static void put(struct import *m, uint8_t kind, uint32_t thread, uint32_t space,
                const struct ml_event *rest)
{
    struct ml_event event = *rest;

    event.kind = kind;
    event.time_ns = m->time_ns;
    event.thread = thread;
    event.space = space;
    ml_import_event(m->sink, &event);
}

static int allocate(struct import *m, const struct ml_memray_record *r, struct ml_error *err)
{
    struct thread *t = current(m);
    uint32_t node = t->calls.len ? t->calls.items[t->calls.len - 1] : 0;
    struct ml_event event = {.addr = r->address, .size = r->bytes};
    uint32_t space = space_of(m, r->kind, r->from_python);
    uint64_t before;
    int code;

    if (r->bytes > ML_IMPORT_BYTES_MAX)
        return ml_import_bad(m->source, err, ML_IMPORT_TOO_LARGE);
    code = ml_memray_stack(&m->stacks, node, r->native, 0, t->main, &event.stack);
    if (code < 0)
        return failure(m, code, err);
    if (r->kind == ML_MEMRAY_ALLOCATION) {
        if (ml_map_get(&m->live, r->address, &before))
            put(m, ML_FREE, t->number, (uint32_t)before, &(struct ml_event){.addr = r->address});
        if (ml_map_put(&m->live, r->address, space) < 0)
            return no_memory(m, err);
    }
    put(m, ML_ALLOC, t->number, space, &event);
    return 0;
}

/* Blocks of the time before memray was started are not known. */
static void release(struct import *m, const struct ml_memray_record *r)
{
    uint64_t space;

    if (r->kind == ML_MEMRAY_UNMAP)
        put(m, ML_FREE_RANGE, current(m)->number, space_of(m, r->kind, false),
            &(struct ml_event){.addr = r->address, .size = r->bytes});
    else if (ml_map_take(&m->live, r->address, &space))
        put(m, ML_FREE, current(m)->number, (uint32_t)space,
            &(struct ml_event){.addr = r->address});
}

static int push(struct import *m, const struct ml_memray_record *r, struct ml_error *err)
{
    struct thread *t = current(m);
    int64_t node =
        ml_memray_push(&m->stacks, t->calls.len ? t->calls.items[t->calls.len - 1] : 0, r);

    if (node < 0)
        return failure(m, (int)node, err);
    return ml_vec_push(&t->calls, (uint32_t)node) < 0 ? no_memory(m, err) : 0;
}

static void pop(struct import *m, uint64_t count)
{
    struct thread *t = current(m);

    t->calls.len -= count < t->calls.len ? (size_t)count : t->calls.len;
}

/* ---- Samples ------------------------------------------------------------------------ */

static void put_sample(struct import *m, uint32_t thread, uint64_t resident)
{
    struct ml_event event = {
        .args = {m->device, ML_SAMPLE_BY_PROCESS | (uint64_t)(m->process + 1)
                                                       << ML_SAMPLE_PROCESS_SHIFT}};

    event.args[5] = resident < ML_BYTES_MAX ? resident : ML_BYTES_MAX;
    put(m, ML_SAMPLE, thread, 0, &event);
}

static uint32_t any_thread(struct import *m)
{
    return m->threads.len ? m->threads.items[0].number
                          : ml_import_thread(m->sink, m->process, m->file.pid, "");
}

static int sample(struct import *m, const struct ml_memray_record *r, struct ml_error *err)
{
    uint64_t ms = r->time_ms < INT64_MAX / NS_PER_MS ? r->time_ms : 0;

    if (m->file.aggregated)
        return ml_vec_push(&m->samples, ((struct sample){ms * NS_PER_MS, r->bytes, r->heap})) < 0
                   ? no_memory(m, err)
                   : 0;
    if (ms * NS_PER_MS > m->time_ns)
        m->time_ns = ms * NS_PER_MS;
    put_sample(m, any_thread(m), r->bytes);
    return 0;
}

/* ---- Aggregated files --------------------------------------------------------------- */

static int add_sum(struct import *m, const struct ml_memray_record *r, struct ml_error *err)
{
    const struct ml_memray_sum *s = &r->sum;
    struct sum sum = {.both = s->peak_bytes < s->left_bytes ? s->peak_bytes : s->left_bytes,
                      .space = space_of(m, ML_MEMRAY_ALLOCATION, r->from_python)};
    int code;

    if (s->peak_bytes > ML_IMPORT_BYTES_MAX || s->left_bytes > ML_IMPORT_BYTES_MAX)
        return ml_import_bad(m->source, err, ML_IMPORT_TOO_LARGE);
    sum.peak_only = s->peak_bytes - sum.both;
    sum.left_only = s->left_bytes - sum.both;
    code = switch_thread(m, r->number, err);
    if (code < 0)
        return code;
    sum.thread = current(m)->number;
    code = ml_memray_stack(&m->stacks, r->stack, r->native, r->maps, current(m)->main, &sum.stack);
    if (code < 0)
        return failure(m, code, err);
    return ml_vec_push(&m->sums, sum) < 0 ? no_memory(m, err) : 0;
}

/* Samples up to a time, which never goes back. */
static size_t put_samples(struct import *m, size_t from, uint64_t until_ns)
{
    for (; from < m->samples.len && m->samples.items[from].time_ns <= until_ns; from++) {
        if (m->samples.items[from].time_ns > m->time_ns)
            m->time_ns = m->samples.items[from].time_ns;
        put_sample(m, any_thread(m), m->samples.items[from].resident);
    }
    return from;
}

static void allocate_sums(struct import *m, size_t offset_of_bytes)
{
    for (size_t i = 0; i < m->sums.len; i++) {
        const struct sum *sum = &m->sums.items[i];
        uint64_t bytes;

        memcpy(&bytes, (const char *)sum + offset_of_bytes, sizeof(bytes));
        if (bytes)
            put(m, ML_ALLOC, sum->thread, sum->space,
                &(struct ml_event){
                    .addr = ml_import_address(m->sink), .size = bytes, .stack = sum->stack});
    }
}

/* The same blocks again: their numbers rise from `first`. */
static void free_peak_only(struct import *m, uint64_t first)
{
    for (size_t i = 0; i < m->sums.len; i++)
        if (m->sums.items[i].peak_only)
            put(m, ML_FREE, m->sums.items[i].thread, m->sums.items[i].space,
                &(struct ml_event){.addr = ++first});
}

static uint64_t peak_time(const struct import *m)
{
    const struct sample *best = NULL;

    for (size_t i = 0; i < m->samples.len; i++)
        if (!best || m->samples.items[i].heap > best->heap)
            best = &m->samples.items[i];
    return best ? best->time_ns : 0;
}

static void put_sums(struct import *m)
{
    uint64_t peak_ns = peak_time(m), numbers;
    size_t at = put_samples(m, 0, peak_ns);

    m->time_ns = peak_ns > m->time_ns ? peak_ns : m->time_ns;
    allocate_sums(m, offsetof(struct sum, both));
    numbers = m->sink->addresses;
    allocate_sums(m, offsetof(struct sum, peak_only));
    put_samples(m, at, UINT64_MAX);
    free_peak_only(m, numbers);
    allocate_sums(m, offsetof(struct sum, left_only));
    ml_import_unknown(m->sink, ML_UNKNOWN_ALLOCATIONS | ML_UNKNOWN_TIMES | ML_UNKNOWN_OTHERS);
}

/* ---- The whole ---------------------------------------------------------------------- */

static bool needs_thread(enum ml_memray_kind kind)
{
    switch (kind) {
    case ML_MEMRAY_ALLOCATION:
    case ML_MEMRAY_FREE:
    case ML_MEMRAY_MAP:
    case ML_MEMRAY_UNMAP:
    case ML_MEMRAY_PUSH:
    case ML_MEMRAY_POP: return true;
    default: return false;
    }
}

static int take(struct import *m, const struct ml_memray_record *r, struct ml_error *err)
{
    int code = 0;

    if (needs_thread(r->kind) && !m->thread)
        code = switch_thread(m, 0, err);
    if (code < 0)
        return code;
    switch (r->kind) {
    case ML_MEMRAY_ALLOCATION:
    case ML_MEMRAY_MAP: return allocate(m, r, err);
    case ML_MEMRAY_FREE:
    case ML_MEMRAY_UNMAP: release(m, r); return 0;
    case ML_MEMRAY_PUSH: return push(m, r, err);
    case ML_MEMRAY_POP: pop(m, r->number); return 0;
    case ML_MEMRAY_SUM: return add_sum(m, r, err);
    case ML_MEMRAY_MEMORY: return sample(m, r, err);
    case ML_MEMRAY_THREAD: return switch_thread(m, r->number, err);
    case ML_MEMRAY_THREAD_NAME:
        if (current(m) && r->name[0])
            ml_dict_thread_name(&m->sink->dict, current(m)->number, r->name);
        return 0;
    default: code = ml_memray_define(&m->stacks, r); return code < 0 ? failure(m, code, err) : 0;
    }
}

static int begin(struct import *m, struct ml_error *err)
{
    const char *command = (const char *)m->file.command.data;

    m->sink->start_wall_ns =
        m->file.start_ms < INT64_MAX / NS_PER_MS ? m->file.start_ms * NS_PER_MS : 0;
    if (command[0])
        ml_dict_config(&m->sink->dict, "command", command);
    m->process = ml_import_process(m->sink, m->file.pid, command);
    m->device = ml_dict_cstr(&m->sink->dict, "cpu");
    if (m->file.native)
        ml_dict_config(&m->sink->dict, "stacks", "all");
    return ml_memray_stacks_init(&m->stacks, &m->file, m->sink, m->process) < 0 ? no_memory(m, err)
                                                                                : 0;
}

static int read_records(struct import *m, struct ml_error *err)
{
    struct ml_memray_record record;
    int n, r = begin(m, err);

    while (r == 0 && (n = ml_memray_next(&m->file, &record, err)) != 0) {
        r = n < 0 ? n : take(m, &record, err);
        if (r == 0)
            r = ml_import_sink_check(m->sink, err);
    }
    if (r == 0 && m->file.aggregated)
        put_sums(m);
    m->sink->unnamed_frames = m->stacks.native_frames;
    return r;
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct import m = {.source = source, .sink = sink};
    int r = ml_memray_open(&m.file, source, err);

    if (r == 0)
        r = read_records(&m, err);
    for (size_t i = 0; i < m.threads.len; i++)
        ml_vec_release(&m.threads.items[i].calls);
    ml_vec_release(&m.threads);
    ml_vec_release(&m.sums);
    ml_vec_release(&m.samples);
    ml_map_release(&m.thread_numbers);
    ml_map_release(&m.live);
    ml_memray_stacks_release(&m.stacks);
    ml_memray_release(&m.file);
    return r;
}

static int recognise(const uint8_t *head, size_t len)
{
    return len >= sizeof(ML_MEMRAY_MAGIC) + 4 &&
                   !memcmp(head, ML_MEMRAY_MAGIC, sizeof(ML_MEMRAY_MAGIC))
               ? 100
               : 0;
}

const struct ml_import_format ml_import_memray = {
    .name = "memray",
    .help = "file of memray run, with or without --native and --aggregate",
    .recognise = recognise,
    .run = run,
};
