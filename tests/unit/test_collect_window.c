/* test_collect_window.c: a trace that keeps only its last part, against the whole trace of the same
 * events: the events of the window are the same, and so are the live blocks at its beginning, at
 * its end and in between. The file stays below its limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memledger/memledger.h"
#include "earlier.h"
#include "replay.h"
#include "step_track.h"
#include "trace_writer.h"
#include "window_begin.h"
#include "window_notes.h"

#define LIMIT (UINT64_C(1) << 20)
#define BLOCK_EVENTS 1000
#define SPACES 4
#define THREADS 5
#define SLOTS 400
#define CHILDREN 50000

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

/* One trace that is being written. */
struct written {
    char path[64];
    struct ml_dict dict;
    struct ml_trace_writer writer;
};

static void begin(struct written *t, const char *name, const struct ml_window_limits *keep)
{
    struct ml_error err = {0};

    snprintf(t->path, sizeof(t->path), "/tmp/window-%d-%s.mled", (int)getpid(), name);
    unlink(t->path);
    assert_int_equal(ml_dict_init(&t->dict), 0);
    assert_int_equal(ml_trace_writer_open(&t->writer, t->path, false, 1000, &t->dict, &err), 0);
    if (keep)
        assert_int_equal(ml_trace_writer_keep(&t->writer, keep, &err), 0);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t process[ML_DEF_FIELDS] = {[ML_PROCESS_PID] = 10 + i};
        ml_dict_add(&t->dict, ML_DEF_PROCESS, process);
    }
    for (uint64_t i = 0; i < THREADS; i++) {
        uint64_t thread[ML_DEF_FIELDS] = {[ML_THREAD_PROCESS] = i % 2, [ML_THREAD_TID] = 20 + i};
        ml_dict_add(&t->dict, ML_DEF_THREAD, thread);
    }
    for (uint64_t i = 0; i < SPACES; i++) {
        uint64_t space[ML_DEF_FIELDS] = {[ML_SPACE_PROCESS] = i % 2,
                                         [ML_SPACE_DEVICE] = ml_dict_cstr(&t->dict, "cpu"),
                                         [ML_SPACE_LEVEL] = 3,
                                         [ML_SPACE_NAME] = ml_dict_cstr(&t->dict, "a space")};
        ml_dict_add(&t->dict, ML_DEF_SPACE, space);
    }
}

static void discard(struct written *both)
{
    for (int i = 0; i < 2; i++) {
        ml_dict_release(&both[i].dict);
        unlink(both[i].path);
    }
}

static void put(struct written *both, const struct ml_event *e)
{
    for (int i = 0; i < 2; i++)
        ml_trace_writer_event(&both[i].writer, e);
}

/* ---- Events ---------------------------------------------------------------- */

static uint64_t address(uint32_t space, uint32_t slot)
{
    return ((uint64_t)(space + 1) << 32) + slot * 65536;
}

static void put_one(struct written *both, uint64_t n)
{
    uint32_t space = random_below(SPACES), slot = random_below(SLOTS), what = random_below(100);
    struct ml_event e = {.time_ns = n * 1000 + random_below(900),
                         .addr = address(space, slot),
                         .thread = random_below(THREADS),
                         .space = space,
                         .scope = 0};

    if (what < 45) {
        e.kind = what % 9 ? ML_ALLOC : ML_ALLOC_EX;
        e.size = 1 + random_below(space == 3 ? 100000 : 60000);
        e.args[0] = e.kind == ML_ALLOC_EX ? e.size - 1 : 0;
        e.args[1] = e.kind == ML_ALLOC_EX ? 7 : 0;
    } else if (what < 80) {
        e.kind = space == 3 ? ML_FREE_RANGE : ML_FREE;
        e.addr += space == 3 ? random_below(16) * 4096 : 0;
        e.size = space == 3 ? random_below(20) * 4096 : 0;
    } else if (what < 84) {
        e.kind = ML_MOVE;
    } else if (what < 85) {
        e.kind = ML_MOVE_FAILED;
    } else if (what < 92) {
        e.kind = ML_LABEL;
        e.args[0] = 1 + random_below(2);
        e.args[1] = random_below(4);
    } else if (what < 95) {
        e.kind = ML_MARK;
        e.args[1] = n;
    } else if (what < 96) {
        e.kind = ML_LOST;
        e.args[0] = 1;
        e.args[1] = e.time_ns;
        e.args[2] = ML_LOST_RING_FULL;
    } else {
        e.kind = ML_PUSH;
    }
    put(both, &e);
}

/* New names on the way, as in a real run. */
static void put_events(struct written *both, uint64_t count, uint64_t limit)
{
    struct stat st;
    char name[32];

    for (uint64_t n = 1; n <= count; n++) {
        put_one(both, n);
        if (n % BLOCK_EVENTS)
            continue;
        snprintf(name, sizeof(name), "name %lu", (unsigned long)n);
        for (int i = 0; i < 2; i++) {
            ml_dict_cstr(&both[i].dict, name);
            if (n % (BLOCK_EVENTS * 8) == 0)
                ml_trace_writer_save(&both[i].writer);
            ml_trace_writer_flush(&both[i].writer);
        }
        assert_int_equal(stat(both[1].path, &st), 0);
        if (limit)
            assert_true((uint64_t)st.st_size <= limit);
    }
}

/* ---- Comparing ------------------------------------------------------------- */

struct reading {
    struct ml_trace *trace;
    struct ml_cursor *cursor;
    struct ml_replay replay;
    const struct ml_event *events;
    int left;
};

static void open_reading(struct reading *r, const char *path)
{
    struct ml_error err = {0};

    *r = (struct reading){0};
    assert_int_equal(ml_trace_open(path, &(struct ml_trace_opts){0}, &r->trace, &err), 0);
    assert_int_equal(ml_cursor_open(r->trace, 0, UINT64_MAX, &r->cursor, &err), 0);
    assert_int_equal(ml_replay_init(&r->replay, r->trace), 0);
}

/* NULL: at the end. */
static const struct ml_event *next(struct reading *r)
{
    struct ml_error err = {0};
    const struct ml_event *e;

    if (r->left == 0)
        r->left = ml_cursor_next(r->cursor, &r->events, &err);
    assert_true(r->left >= 0);
    if (r->left == 0)
        return NULL;
    e = r->events++;
    r->left--;
    assert_int_equal(ml_replay_feed(&r->replay, e), 0);
    return e;
}

static void close_reading(struct reading *r)
{
    ml_replay_release(&r->replay);
    ml_cursor_free(r->cursor);
    ml_trace_free(r->trace);
}

static int by_place(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

/* Live blocks as rows of numbers, sorted. The caller frees them. */
static uint64_t (*rows_of(const struct reading *r, size_t *ret))[9]
{
    uint64_t(*rows)[9] = calloc(r->replay.blocks.len + 1, sizeof(*rows));
    size_t count = 0;

    for (size_t i = 0; i < r->replay.blocks.len; i++) {
        const struct ml_block *b = &r->replay.blocks.items[i];
        uint64_t row[9] = {r->replay.spaces.items[b->space].number,
                           b->addr,
                           b->size,
                           b->time_ns,
                           ml_block_thread(b),
                           b->scope,
                           b->stack,
                           b->label,
                           b->category};
        if (b->live)
            memcpy(rows[count++], row, sizeof(row));
    }
    qsort(rows, count, sizeof(*rows), by_place);
    *ret = count;
    return rows;
}

static void compare_blocks(const struct reading *whole, const struct reading *window)
{
    size_t a_count, b_count;
    uint64_t(*a)[9] = rows_of(whole, &a_count), (*b)[9] = rows_of(window, &b_count);

    assert_int_equal(a_count, b_count);
    assert_memory_equal(a, b, a_count * sizeof(*a));
    free(a);
    free(b);
}

static struct ml_following_totals totals_of(const struct reading *r)
{
    struct ml_following_totals totals = {
        .events = r->replay.events,
        .lost = r->replay.lost,
        .refusals = r->replay.ooms,
        .allocations = ml_step_allocations(&r->replay),
    };

    for (size_t i = 0; i < r->replay.spaces.len; i++)
        totals.frees += r->replay.spaces.items[i].frees;
    return totals;
}

static void compare_peak(const struct ml_earlier *earlier, enum ml_window_peak_of of,
                         uint32_t number, const struct ml_gauge *whole,
                         const struct ml_gauge *window)
{
    const struct ml_earlier_peak peak = ml_earlier_highest(
        earlier, of, number, (struct ml_earlier_peak){window->peak_bytes, window->peak_time_ns});

    assert_int_equal(peak.bytes, whole->peak_bytes);
    assert_int_equal(peak.time_ns, whole->peak_time_ns);
}

/* Those of processes or of spaces, by number; NULL: the reading has none. The caller frees the
 * array. */
static const struct ml_gauge **gauges_of(const struct reading *r, enum ml_window_peak_of of,
                                         uint32_t count)
{
    const struct ml_gauge **gauges = calloc(count + 1, sizeof(*gauges));

    for (size_t i = 0; of == ML_PEAK_OF_PROCESS && i < r->replay.processes.len; i++)
        gauges[r->replay.processes.items[i].number] = &r->replay.processes.items[i].bytes;
    for (size_t i = 0; of == ML_PEAK_OF_SPACE && i < r->replay.spaces.len; i++)
        gauges[r->replay.spaces.items[i].number] = &r->replay.spaces.items[i].bytes;
    return gauges;
}

static void compare_peaks(const struct ml_earlier *earlier, enum ml_window_peak_of of,
                          const struct reading *whole, const struct reading *window, uint32_t count)
{
    const struct ml_gauge **a = gauges_of(whole, of, count), **b = gauges_of(window, of, count);

    for (uint32_t i = 0; i < count; i++) {
        if (a[i] && b[i])
            compare_peak(earlier, of, i, a[i], b[i]);
    }
    free(a);
    free(b);
}

/* Counters and peaks of the window, with what the file says about the time before it, are those of
 * the whole recording. */
static void compare_sums(const struct reading *whole, const struct reading *window)
{
    const struct ml_following_totals expected = totals_of(whole);
    struct ml_following_totals totals;
    struct ml_earlier earlier = {0};

    assert_int_equal(ml_earlier_read(&earlier, window->trace), 0);
    totals = ml_earlier_add(&earlier, totals_of(window));
    assert_int_equal(totals.events, expected.events);
    assert_int_equal(totals.lost, expected.lost);
    assert_int_equal(totals.refusals, expected.refusals);
    assert_int_equal(totals.allocations, expected.allocations);
    assert_int_equal(totals.frees, expected.frees);
    compare_peak(&earlier, ML_PEAK_OF_ALL, 0, &whole->replay.bytes, &window->replay.bytes);
    compare_peak(&earlier, ML_PEAK_OF_DEVICE, ml_trace_space(window->trace, 0)->device,
                 &whole->replay.devices.items[0].bytes, &window->replay.devices.items[0].bytes);
    compare_peaks(&earlier, ML_PEAK_OF_PROCESS, whole, window, ml_trace_processes(whole->trace));
    compare_peaks(&earlier, ML_PEAK_OF_SPACE, whole, window, ml_trace_spaces(whole->trace));
    ml_earlier_release(&earlier);
}

/* @return the number of events in the window */
static uint64_t compare(const char *whole_path, const char *window_path)
{
    struct reading whole, window;
    struct ml_window_begin begin;
    const struct ml_event *e = NULL, *f = NULL;
    uint64_t events = 0;

    open_reading(&whole, whole_path);
    open_reading(&window, window_path);
    begin = ml_window_begin_of(&window.replay);
    assert_true(begin.is_window);
    for (uint64_t i = 0; i < begin.events; i++)
        assert_non_null(e = next(&whole));
    assert_int_equal(e->time_ns, begin.begin_ns);
    for (uint64_t i = 0; i < begin.repeated; i++)
        assert_non_null(f = next(&window));
    assert_true(f->time_ns <= begin.begin_ns);
    compare_blocks(&whole, &window);
    assert_int_equal(whole.replay.lost, window.replay.lost);
    while ((e = next(&whole))) {
        assert_non_null(f = next(&window));
        assert_memory_equal(e, f, sizeof(*e));
        if (events++ % 997 == 0)
            compare_blocks(&whole, &window);
    }
    assert_null(next(&window));
    compare_blocks(&whole, &window);
    assert_int_equal(whole.replay.bytes.live_bytes, window.replay.bytes.live_bytes);
    compare_sums(&whole, &window);
    close_reading(&whole);
    close_reading(&window);
    return events;
}

static void check_with(uint32_t with_seed, const struct ml_window_limits *keep, uint64_t count)
{
    struct written both[2];
    struct stat st;

    seed = with_seed;
    begin(&both[0], "whole", NULL);
    begin(&both[1], "window", keep);
    put_events(both, count, keep->bytes);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ml_trace_writer_close(&both[i].writer), 0);
    assert_int_equal(stat(both[1].path, &st), 0);
    if (keep->bytes)
        assert_true((uint64_t)st.st_size <= keep->bytes);
    assert_true(compare(both[0].path, both[1].path) > 10 * BLOCK_EVENTS);
    discard(both);
}

static void test_a_size(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 3; i++)
        check_with(i, &(struct ml_window_limits){.bytes = LIMIT}, 150000 + 7919 * i);
}

static void test_a_time(void **state)
{
    (void)state;
    check_with(9, &(struct ml_window_limits){.ns = 60000 * 1000}, 400000);
}

/* A state that does not fit ends the recording: what was written stays, and the rest is counted. */
static void test_too_small(void **state)
{
    struct ml_window_limits keep = {.bytes = 24 << 10};
    struct written both[2];
    struct stat st;

    (void)state;
    seed = 4;
    begin(&both[0], "whole", NULL);
    begin(&both[1], "window", &keep);
    put_events(both, 30000, keep.bytes);
    assert_int_equal(ml_trace_writer_close(&both[0].writer), 0);
    assert_int_equal(ml_trace_writer_close(&both[1].writer), -EFBIG);
    assert_true(both[1].writer.lost > 0);
    assert_int_equal(stat(both[1].path, &st), 0);
    assert_true((uint64_t)st.st_size <= keep.bytes);
    discard(both);
}

/* ---- Many live blocks -------------------------------------------------------- */

/* A program that keeps so many blocks and replaces them at random. */
struct many {
    uint32_t slots;
    uint32_t size_max;
    uint32_t stacks; /* blocks also have labels; 0: they have none of both */
};

/* What keeping a window took. */
struct effort {
    uint64_t most_steps; /* between two blocks of events */
    uint64_t files;      /* that took the name */
};

static void add_details(struct ml_event *e, const struct many *many)
{
    e->kind = ML_ALLOC_EX;
    e->stack = random_below(many->stacks);
    e->args[0] = random_below((uint32_t)e->size);
    e->args[1] = random_below(many->stacks);
}

static void replace_one(struct written *both, uint64_t n, const struct many *many)
{
    uint32_t slot = n < many->slots ? (uint32_t)n : random_below(many->slots);
    struct ml_event e = {.kind = ML_FREE,
                         .time_ns = n * 1000,
                         .addr = slot * UINT64_C(0x9e3779b97f4a7c15) >> 24 << 4};

    if (n >= many->slots)
        put(both, &e);
    e.kind = ML_ALLOC;
    e.size = 1 + random_below(many->size_max);
    if (many->stacks)
        add_details(&e, many);
    put(both, &e);
    e.kind = ML_LABEL;
    e.args[0] = 1 + random_below(2);
    e.args[1] = random_below(4);
    if (many->stacks)
        put(both, &e);
}

static struct effort replace_blocks(struct written *both, uint64_t count, const struct many *many)
{
    _Atomic uint64_t beats = 0;
    struct effort effort = {0};
    uint64_t before = 0;
    struct stat st;
    ino_t file = 0;

    ml_window_set_heartbeat(both[1].writer.window, &beats);
    for (uint64_t n = 0; n < count; n++) {
        replace_one(both, n, many);
        if (n % BLOCK_EVENTS)
            continue;
        for (int i = 0; i < 2; i++)
            ml_trace_writer_settle(&both[i].writer);
        effort.most_steps = ml_max_u64(effort.most_steps, beats - before);
        before = beats;
        assert_int_equal(stat(both[1].path, &st), 0);
        assert_true((uint64_t)st.st_size <= LIMIT);
        effort.files += st.st_ino != file;
        file = st.st_ino;
    }
    ml_window_set_heartbeat(both[1].writer.window, NULL);
    return effort;
}

static struct effort check_many(uint64_t count, const struct many *many)
{
    const struct ml_window_limits keep = {.bytes = LIMIT};
    struct written both[2];
    struct effort effort;

    seed = 11;
    begin(&both[0], "whole", NULL);
    begin(&both[1], "window", &keep);
    effort = replace_blocks(both, count, many);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ml_trace_writer_close(&both[i].writer), 0);
    assert_int_equal(both[1].writer.lost, 0);
    assert_true(compare(both[0].path, both[1].path) > 2 * BLOCK_EVENTS);
    discard(both);
    return effort;
}

/* The work is spread over the blocks of events, and each part of it is a sign of life: a target
 * that waits does not give up. */
static void test_many_live_blocks(void **state)
{
    struct effort effort = check_many(400000, &(struct many){.slots = 40000, .size_max = 200});

    (void)state;
    assert_in_range(effort.most_steps, 1, 50);
}

/* Live blocks that nearly fill the limit are not written again for every few events. */
static void test_nearly_too_many_live_blocks(void **state)
{
    struct effort effort = check_many(400000, &(struct many){.slots = 58000, .size_max = 200});

    (void)state;
    assert_in_range(effort.files, 5, 40);
}

/* Blocks that take more bytes than expected: the window begins later than was planned. */
static void test_large_live_blocks(void **state)
{
    struct effort effort = check_many(
        60000, &(struct many){.slots = 18000, .size_max = UINT32_C(1) << 27, .stacks = 1 << 24});

    (void)state;
    assert_true(effort.files > 2);
}

/* ---- Children ---------------------------------------------------------------- */

struct child {
    uint32_t process, thread, space;
};

static struct child define_child(struct written *t, uint64_t n, uint64_t time_ns)
{
    uint64_t process[ML_DEF_FIELDS] = {[ML_PROCESS_PID] = 1000 + 3 * n,
                                       [ML_PROCESS_PARENT] = 1,
                                       [ML_PROCESS_HOW] = ML_FORKED,
                                       [ML_PROCESS_START_NS] = time_ns,
                                       [ML_PROCESS_COMMAND] = ml_dict_cstr(&t->dict, "server")};
    struct child c = {.process = ml_dict_add(&t->dict, ML_DEF_PROCESS, process)};
    uint64_t thread[ML_DEF_FIELDS] = {[ML_THREAD_PROCESS] = c.process,
                                      [ML_THREAD_TID] = 1000 + 3 * n,
                                      [ML_THREAD_START_NS] = time_ns};
    uint64_t space[ML_DEF_FIELDS] = {[ML_SPACE_PROCESS] = c.process,
                                     [ML_SPACE_DEVICE] = ml_dict_cstr(&t->dict, "cpu"),
                                     [ML_SPACE_LEVEL] = MEMLEDGER_BLOCK,
                                     [ML_SPACE_NAME] = ml_dict_cstr(&t->dict, "malloc")};

    c.thread = ml_dict_add(&t->dict, ML_DEF_THREAD, thread);
    c.space = ml_dict_add(&t->dict, ML_DEF_SPACE, space);
    ml_dict_thread_name(&t->dict, c.thread, "child");
    ml_dict_process_role(&t->dict, c.process, "worker");
    return c;
}

/* It allocates a little, is sampled, and ends. */
static void put_child(struct written *both, uint64_t n, uint64_t *time_ns)
{
    struct child c = define_child(&both[0], n, *time_ns),
                 same = define_child(&both[1], n, *time_ns);
    struct ml_event e = {.thread = c.thread, .space = c.space};

    assert_memory_equal(&c, &same, sizeof(c));
    for (uint64_t i = 0; i < 6; i++) {
        e.kind = i % 2 ? ML_FREE : ML_ALLOC;
        e.addr = address(0, (uint32_t)i / 2);
        e.size = e.kind == ML_ALLOC ? 1 + random_below(5000) : 0;
        e.time_ns = *time_ns += 1 + random_below(3000);
        put(both, &e);
    }
    e = (struct ml_event){.kind = ML_MARK, .time_ns = *time_ns, .thread = c.thread, .args = {0, n}};
    put(both, &e);
    e = (struct ml_event){.kind = ML_SAMPLE, .time_ns = *time_ns, .args = {1}};
    e.args[1] = ML_SAMPLE_BY_PROCESS | (uint64_t)(c.process + 1) << ML_SAMPLE_PROCESS_SHIFT;
    e.args[5] = random_below(1 << 20);
    put(both, &e);
    e = (struct ml_event){.kind = ML_PROCESS_END, .time_ns = *time_ns, .args = {c.process, 1}};
    put(both, &e);
}

/* The processes, threads and spaces of a window's own events are known. */
static void check_definitions(const char *path)
{
    struct reading window;
    struct ml_window_begin begins;
    const struct ml_event *e;
    uint64_t number = 0, blank = 0;

    open_reading(&window, path);
    begins = ml_window_begin_of(&window.replay);
    while ((e = next(&window))) {
        const struct ml_thread *thread = ml_trace_thread(window.trace, e->thread);

        if (number++ < begins.repeated || (e->kind != ML_ALLOC && e->kind != ML_FREE))
            continue;
        assert_true(thread->tid != 0 && ml_trace_space(window.trace, e->space)->level != 0);
        assert_true(ml_trace_process(window.trace, thread->process)->pid != 0);
    }
    for (uint32_t i = 0; i < ml_trace_processes(window.trace); i++)
        blank += ml_trace_process(window.trace, i)->pid == 0;
    assert_true(blank > CHILDREN / 2);
    close_reading(&window);
}

/* A server that forks: what a window repeats does not grow with the processes that have ended. */
static void test_ended_processes(void **state)
{
    const struct ml_window_limits keep = {.bytes = LIMIT};
    struct written both[2];
    uint64_t time_ns = 1000;
    struct stat st;

    (void)state;
    seed = 3;
    begin(&both[0], "whole", NULL);
    begin(&both[1], "window", &keep);
    put(both, &(struct ml_event){.kind = ML_ALLOC, .time_ns = 1, .addr = 64, .size = 9});
    for (uint64_t n = 0; n < CHILDREN; n++) {
        put_child(both, n, &time_ns);
        if (n % 200)
            continue;
        for (int i = 0; i < 2; i++)
            ml_trace_writer_flush(&both[i].writer);
        assert_int_equal(stat(both[1].path, &st), 0);
        assert_true((uint64_t)st.st_size <= LIMIT);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(ml_trace_writer_close(&both[i].writer), 0);
    assert_int_equal(both[1].writer.lost, 0);
    assert_true(compare(both[0].path, both[1].path) > 10000);
    check_definitions(both[1].path);
    discard(both);
}

/* What is repeated does not grow with the threads that have been. */
static void test_ended_threads(void **state)
{
    const struct ml_event before[] = {
        {.kind = ML_MARK, .args = {MEMLEDGER_MARK_PHASE}},
        {.kind = ML_MARK, .args = {ML_MARK_TYPE}},
        {.kind = ML_PUSH, .scope = 1},
    };
    struct ml_window_notes notes = {0};
    struct ml_event event, *listed;
    size_t count;

    (void)state;
    for (uint32_t thread = 0; thread < 100; thread++) {
        for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
            event = before[i];
            event.thread = thread;
            assert_int_equal(ml_window_notes_feed(&notes, &event), 0);
        }
        event = (struct ml_event){.kind = ML_THREAD_END, .thread = thread};
        assert_int_equal(ml_window_notes_feed(&notes, &event), 0);
    }
    assert_int_equal(ml_window_notes_list(&notes, &listed, &count), 0);
    assert_int_equal(count, 0);
    free(listed);
    ml_window_notes_release(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ended_threads),
        cmocka_unit_test(test_ended_processes),
        cmocka_unit_test(test_a_size),
        cmocka_unit_test(test_a_time),
        cmocka_unit_test(test_too_small),
        cmocka_unit_test(test_many_live_blocks),
        cmocka_unit_test(test_nearly_too_many_live_blocks),
        cmocka_unit_test(test_large_live_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
