/* test_analyze_checkpoints.c: an instant that is found from a checkpoint is the same, to the order
 * of the blocks, as one that is found by a replay from the start: in random traces, at many
 * instants of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_random.h"

#include <errno.h>

#include "checkpoint_bytes.h"
#include "checkpoint_maker.h"
#include "checkpoints.h"
#include "landmarks.h"
#include "number_rows.h"
#include "samples.h"
#include "snapshot.h"
#include "step_table.h"
#include "varint.h"

#define TRACES 5
#define INSTANTS 50

struct answer {
    int result;
    struct ml_error err;
    struct ml_snapshot snapshot;
    struct ml_replay replay;
};

/* With checkpoints as often as can be. */
static void attach(struct ml_trace *trace)
{
    struct ml_buf bytes = {0};

    assert_int_equal(ml_checkpoint_bytes(trace, 1, &bytes), 0);
    assert_true(ml_checkpoint_attach(trace, &bytes));
    ml_buf_release(&bytes);
}

static struct answer ask(const struct ml_trace *trace, const struct ml_snapshot_opts *opts)
{
    struct answer a = {0};

    a.result = ml_snapshot(trace, opts, &a.snapshot, &a.replay, &a.err);
    return a;
}

static void answer_release(struct answer *a)
{
    ml_snapshot_release(&a->snapshot);
    ml_replay_release(&a->replay);
}

static void assert_same_gauge(const struct ml_gauge *a, const struct ml_gauge *b)
{
    assert_int_equal(a->live_bytes, b->live_bytes);
    assert_int_equal(a->peak_bytes, b->peak_bytes);
    assert_int_equal(a->peak_time_ns, b->peak_time_ns);
}

static void assert_same_instant(const struct ml_instant *a, const struct ml_instant *b)
{
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->last_label_event, b->last_label_event);
    assert_int_equal(a->run_ended_ns, b->run_ended_ns);
    assert_int_equal(a->refused_bytes, b->refused_bytes);
    assert_int_equal(a->health.lost, b->health.lost);
    assert_int_equal(a->health.lost_ring_full, b->health.lost_ring_full);
    assert_int_equal(a->health.unknown_frees, b->health.unknown_frees);
    assert_int_equal(a->health.inherited_frees, b->health.inherited_frees);
    assert_int_equal(a->health.replaced, b->health.replaced);
    assert_int_equal(a->health.empty, b->health.empty);
}

static void assert_same_spaces(const struct ml_replay *a, const struct ml_replay *b)
{
    assert_int_equal(a->spaces.len, b->spaces.len);
    for (size_t i = 0; i < a->spaces.len; i++) {
        const struct ml_replay_space *x = &a->spaces.items[i], *y = &b->spaces.items[i];

        assert_int_equal(x->number, y->number);
        assert_int_equal(x->counted, y->counted);
        assert_int_equal(x->ranged, y->ranged);
        assert_int_equal(x->ended, y->ended);
        assert_int_equal(x->around, y->around);
        assert_int_equal(x->live_blocks, y->live_blocks);
        assert_int_equal(x->allocations, y->allocations);
        assert_int_equal(x->frees, y->frees);
        assert_same_gauge(&x->bytes, &y->bytes);
    }
}

static void assert_same_totals(const struct ml_replay *a, const struct ml_replay *b)
{
    assert_same_gauge(&a->bytes, &b->bytes);
    assert_int_equal(a->peak_event, b->peak_event);
    assert_int_equal(a->unknown_frees, b->unknown_frees);
    assert_int_equal(a->splits, b->splits);
    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        assert_same_gauge(&a->categories[i].bytes, &b->categories[i].bytes);
        assert_int_equal(a->categories[i].allocations, b->categories[i].allocations);
    }
    assert_int_equal(a->devices.len, b->devices.len);
    for (size_t i = 0; i < a->devices.len; i++)
        assert_same_gauge(&a->devices.items[i].bytes, &b->devices.items[i].bytes);
    assert_int_equal(a->processes.len, b->processes.len);
    for (size_t i = 0; i < a->processes.len; i++) {
        assert_int_equal(a->processes.items[i].ended, b->processes.items[i].ended);
        assert_same_gauge(&a->processes.items[i].bytes, &b->processes.items[i].bytes);
    }
}

/* Live blocks are equal and in the same entries. */
static void assert_same_blocks(const struct ml_replay *a, const struct ml_replay *b)
{
    assert_int_equal(a->blocks.len, b->blocks.len);
    for (size_t i = 0; i < a->blocks.len; i++) {
        const struct ml_block *x = &a->blocks.items[i], *y = &b->blocks.items[i];

        assert_int_equal(x->live, y->live);
        if (x->live)
            assert_memory_equal(x, y, sizeof(*x));
    }
}

static void assert_same_answer(const struct answer *a, const struct answer *b)
{
    assert_int_equal(a->result, b->result);
    assert_string_equal(a->err.text, b->err.text);
    if (a->result < 0)
        return;
    assert_same_instant(&a->snapshot.instant, &b->snapshot.instant);
    assert_int_equal(a->snapshot.bytes, b->snapshot.bytes);
    assert_int_equal(a->snapshot.blocks, b->snapshot.blocks);
    assert_same_spaces(&a->replay, &b->replay);
    assert_int_equal(a->replay.events, b->replay.events);
    assert_same_totals(&a->replay, &b->replay);
    assert_same_blocks(&a->replay, &b->replay);
}

static struct ml_at random_instant(struct random_numbers *random, uint64_t end_ns)
{
    static const enum ml_at_kind kinds[] = {ML_AT_TIME, ML_AT_TIME,     ML_AT_TIME, ML_AT_PEAK,
                                            ML_AT_END,  ML_AT_STEP_END, ML_AT_STEP, ML_AT_OOM};

    return (struct ml_at){
        .kind = kinds[random_below(random, ML_ARRAY_SIZE(kinds))],
        .time_ns = random_below(random, end_ns + end_ns / 16),
        .number = random_below(random, 6),
    };
}

static void compare(const struct ml_trace *plain, const struct ml_trace *with, uint64_t seed)
{
    static const char *const devices[] = {NULL, NULL, "cpu", "cuda:0", "tpu"};
    struct random_numbers random = {seed};

    for (int i = 0; i < INSTANTS; i++) {
        struct ml_snapshot_opts opts = {
            .at = random_instant(&random, ml_trace_info(plain)->end_ns),
            .device = devices[random_below(&random, ML_ARRAY_SIZE(devices))],
        };
        struct answer a = ask(plain, &opts), b = ask(with, &opts);

        assert_same_answer(&a, &b);
        answer_release(&a);
        answer_release(&b);
    }
}

static void random_traces(bool modules)
{
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct ml_trace *plain = random_trace(seed, modules), *with = random_trace(seed, modules);

        attach(with);
        compare(plain, with, seed);
        ml_trace_free(plain);
        ml_trace_free(with);
    }
}

static void traces_with_modules(void **state)
{
    (void)state;
    random_traces(true);
}

static void traces_without_modules(void **state)
{
    (void)state;
    random_traces(false);
}

/* ---- Outlines ------------------------------------------------------------------- */

struct part {
    uint32_t space, category, scope, thread, stack, label;
    uint64_t bytes, blocks;
};

typedef ML_VEC(struct part) parts;

static int by_keys(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct part, bytes));
}

/* The sums of blocks that are alike, in a fixed order. */
static parts parts_of(const struct ml_replay *replay)
{
    const struct ml_block *b;
    parts all = {0};
    size_t cursor = 0, kept = 0;

    while ((b = ml_replay_next(replay, true, &cursor)))
        assert_int_equal(ml_vec_push(&all, ((struct part){b->space, b->category, b->scope,
                                                          ml_block_thread(b), b->stack, b->label,
                                                          b->size, ml_replay_count(replay, b)})),
                         0);
    ml_vec_sort(&all, by_keys);
    for (size_t i = 0; i < all.len; i++)
        if (kept > 0 && by_keys(&all.items[kept - 1], &all.items[i]) == 0) {
            all.items[kept - 1].bytes += all.items[i].bytes;
            all.items[kept - 1].blocks += all.items[i].blocks;
        } else {
            all.items[kept++] = all.items[i];
        }
    all.len = kept;
    return all;
}

static void assert_same_parts(const struct ml_replay *a, const struct ml_replay *b)
{
    parts of_a = parts_of(a), of_b = parts_of(b);

    assert_int_equal(of_a.len, of_b.len);
    for (size_t i = 0; i < of_a.len; i++)
        assert_memory_equal(&of_a.items[i], &of_b.items[i], sizeof(struct part));
    ml_vec_release(&of_a);
    ml_vec_release(&of_b);
}

static struct answer ask_sums(const struct ml_trace *trace, const struct ml_snapshot_opts *opts)
{
    struct answer a = {0};

    a.result = ml_snapshot_sums(trace, opts, &a.snapshot, &a.replay, &a.err);
    return a;
}

/* @return how many answers came from an outline */
static int compare_sums(const struct ml_trace *plain, const struct ml_trace *with, uint64_t seed)
{
    struct random_numbers random = {seed};
    int outlined = 0;

    for (int i = 0; i < INSTANTS; i++) {
        struct ml_snapshot_opts opts = {
            .at = random_instant(&random, ml_trace_info(plain)->end_ns),
            .device = random_below(&random, 2) ? "cpu" : NULL,
        };
        struct answer a = ask(plain, &opts), b = ask_sums(with, &opts);

        assert_int_equal(a.result, b.result);
        if (a.result == 0) {
            assert_same_instant(&a.snapshot.instant, &b.snapshot.instant);
            assert_int_equal(a.snapshot.bytes, b.snapshot.bytes);
            assert_int_equal(a.snapshot.blocks, b.snapshot.blocks);
            assert_same_spaces(&a.replay, &b.replay);
            assert_same_totals(&a.replay, &b.replay);
            assert_same_parts(&a.replay, &b.replay);
            outlined += b.replay.groups.len > 0;
        }
        answer_release(&a);
        answer_release(&b);
    }
    return outlined;
}

/* With checkpoints as rare or as frequent as given. */
static void sums_of_plain_traces(uint64_t every)
{
    int outlined = 0;

    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct ml_trace *plain = random_plain_trace(seed), *with = random_plain_trace(seed);
        struct ml_buf bytes = {0};

        assert_int_equal(ml_checkpoint_bytes(with, every, &bytes), 0);
        assert_true(ml_checkpoint_attach(with, &bytes));
        outlined += compare_sums(plain, with, seed);
        ml_buf_release(&bytes);
        ml_trace_free(plain);
        ml_trace_free(with);
    }
    assert_true(outlined > TRACES * INSTANTS / 4);
}

static void sums_are_the_same(void **state)
{
    (void)state;
    sums_of_plain_traces(1);
    sums_of_plain_traces(1500);
}

/* Blocks in blocks, ranges and labels: outlines are not used where they would be wrong. */
static void sums_of_other_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct ml_trace *plain = random_trace(seed, false), *with = random_trace(seed, false);

        attach(with);
        compare_sums(plain, with, seed);
        ml_trace_free(plain);
        ml_trace_free(with);
    }
}

/* The snapshot does not read what comes before the checkpoint. */
static void a_checkpoint_is_used(void **state)
{
    struct ml_trace *trace = random_trace(1, true);
    struct ml_checkpoints checkpoints;
    const struct ml_checkpoint *middle;

    (void)state;
    attach(trace);
    assert_int_equal(ml_checkpoints_open(trace, &checkpoints), 0);
    assert_true(checkpoints.classified);
    assert_true(checkpoints.list.len > 10);
    middle = ml_checkpoint_before_event(&checkpoints, checkpoints.last.event / 2);
    assert_true(middle->at.event > checkpoints.last.event / 3);
    ml_checkpoints_release(&checkpoints);
    ml_trace_free(trace);
}

/* @return how many of the damaged files were refused */
static int damage_each_byte(const struct ml_trace *plain, struct ml_trace *with)
{
    const struct ml_snapshot_opts opts = {
        .at = {.kind = ML_AT_TIME, .time_ns = ml_trace_info(plain)->end_ns / 2}};
    struct answer expected = ask(plain, &opts);
    struct ml_buf bytes = {0};
    int refused = 0;

    assert_int_equal(ml_checkpoint_bytes(with, 1, &bytes), 0);
    for (size_t i = 0; i < bytes.len; i += 331) {
        struct answer damaged;

        bytes.data[i] ^= 0x40;
        refused += !ml_checkpoint_attach(with, &bytes);
        damaged = ask(with, &opts);
        assert_same_answer(&expected, &damaged);
        answer_release(&damaged);
        bytes.data[i] ^= 0x40;
    }
    ml_buf_release(&bytes);
    answer_release(&expected);
    return refused;
}

static void a_damaged_file_is_not_used(void **state)
{
    struct ml_trace *plain = random_trace(2, true), *with = random_trace(2, true);

    (void)state;
    assert_true(damage_each_byte(plain, with) > 0);
    ml_trace_free(plain);
    ml_trace_free(with);
}

static void an_empty_trace_has_one_checkpoint(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace = fixture_open(&f);
    struct ml_checkpoints checkpoints;

    (void)state;
    attach(trace);
    assert_int_equal(ml_checkpoints_open(trace, &checkpoints), 0);
    assert_int_equal(checkpoints.list.len, 1);
    ml_checkpoints_release(&checkpoints);
    ml_trace_free(trace);
}

static void times_that_fall_are_refused(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_block_writer writer;
    struct ml_error err = {0};
    struct ml_trace *trace;
    int fd = memfd_create("checkpoints", MFD_CLOEXEC);

    (void)state;
    fixture_event(&f, (struct ml_event){.kind = ML_ALLOC, .time_ns = 500, .addr = 1, .size = 1});
    ml_maker_flush(f.maker);
    fixture_event(&f, (struct ml_event){.kind = ML_ALLOC, .time_ns = 100, .addr = 2, .size = 1});
    trace = fixture_open(&f);
    ml_block_writer_open(&writer, fd, 0);
    assert_int_equal(
        ml_checkpoints_make(trace, &(struct ml_checkpoint_opts){.every_events = 1}, &writer, &err),
        -EINVAL);
    ml_block_writer_release(&writer);
    ml_trace_free(trace);
    close(fd);
}

/* ---- Steps --------------------------------------------------------------------- */

static void assert_step(const struct ml_buf *section, uint64_t number)
{
    struct ml_checkpoint_step step;

    assert_int_equal(ml_step_table_find(section, number, &step), 1);
    assert_int_equal(step.number, number);
    assert_int_equal(step.peak.event, number * 100 + 40);
    assert_int_equal(step.peak.time_ns, number * 9000 + 400);
    assert_int_equal(step.end.event, number * 100 + 90);
    assert_int_equal(step.end.time_ns, number * 9000 + 8000);
}

/* Numbers need not follow each other. */
static void steps_are_found(void **state)
{
    struct ml_named_instants named = {0};
    struct ml_buf section = {0};
    struct ml_checkpoint_step step;

    (void)state;
    for (uint64_t i = 3; i < 60; i += 1 + i % 2)
        assert_int_equal(ml_vec_push(&named.steps, ((struct ml_step_instants){
                                                       .number = i,
                                                       .found = i != 9,
                                                       .peak = {i * 100 + 40, i * 9000 + 400},
                                                       .end = {i * 100 + 90, i * 9000 + 8000},
                                                   })),
                         0);
    assert_int_equal(ml_step_table_put(&named, &section), 0);
    assert_step(&section, 3);
    assert_step(&section, 59);
    assert_int_equal(ml_step_table_find(&section, 4, &step), 0);
    assert_int_equal(ml_step_table_find(&section, 9, &step), 0);
    section.len--;
    assert_int_equal(ml_step_table_find(&section, 59, &step), -EBADMSG);
    ml_buf_release(&section);
    ml_vec_release(&named.steps);
}

/* Tag 4 of docs/trace-format.md. */
static void steps_of_an_older_file_are_found(void **state)
{
    uint64_t before[5] = {0};
    struct ml_buf section = {0};
    ml_numbers numbers = {0};

    (void)state;
    for (uint64_t i = 1; i < 20; i++) {
        uint64_t row[] = {i, i * 100 + 40, i * 9000 + 400, i * 100 + 90, i * 9000 + 8000};

        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(ml_vec_push(&numbers, ml_zigzag((int64_t)(row[k] - before[k]))), 0);
            before[k] = row[k];
        }
    }
    assert_int_equal(ml_rows_put(&section, 4, &numbers, 5), 0);
    assert_step(&section, 1);
    assert_step(&section, 19);
    ml_buf_release(&section);
    ml_vec_release(&numbers);
}

/* ---- A directory with too much in it ------------------------------------------------ */

static void read_last_directory(const struct ml_trace *trace, struct ml_buf *ret)
{
    const struct ml_trace *file = ml_trace_checkpoints(trace);
    int64_t block = ml_trace_last_section(file, ML_BLOCK_DIRECTORY);

    assert_true(block > 0);
    assert_int_equal(ml_trace_read_section(file, (size_t)block, ML_BLOCK_DIRECTORY, ret), 0);
}

/* Attaches the checkpoints with another directory, which replaces that before it. */
static void attach_directory(struct ml_trace *trace, const struct ml_buf *directory)
{
    const struct ml_checkpoint_opts opts = {.every_events = 1};
    int fd = memfd_create("checkpoints", MFD_CLOEXEC);
    struct ml_block_writer writer;
    struct ml_buf bytes = {0};
    struct ml_error err = {0};

    ml_block_writer_open(&writer, fd, 0);
    assert_int_equal(ml_block_writer_setting(&writer, "key", "value"), 0);
    assert_int_equal(ml_checkpoints_make(trace, &opts, &writer, &err), 0);
    assert_int_equal(
        ml_block_writer_section(&writer, ML_BLOCK_DIRECTORY, 0, directory->data, directory->len),
        0);
    assert_int_equal(ml_block_writer_finish(&writer), 0);
    ml_block_writer_release(&writer);
    assert_int_equal(ml_bytes_of_fd(fd, &bytes), 0);
    assert_true(ml_checkpoint_attach(trace, &bytes));
    ml_buf_release(&bytes);
    close(fd);
}

static int open_with_refusals(struct ml_trace *trace, uint64_t count)
{
    struct ml_checkpoints checkpoints;
    struct ml_buf directory = {0};
    ml_numbers numbers = {0};
    int r;

    attach(trace);
    read_last_directory(trace, &directory);
    while (numbers.len < count)
        assert_int_equal(ml_vec_push(&numbers, 1), 0);
    assert_int_equal(ml_rows_put(&directory, 5, &numbers, 1), 0); /* see docs/trace-format.md */
    attach_directory(trace, &directory);
    r = ml_checkpoints_open(trace, &checkpoints);
    ml_checkpoints_release(&checkpoints);
    ml_vec_release(&numbers);
    ml_buf_release(&directory);
    return r;
}

/* A row of one byte would take 24 in memory. */
static void more_refusals_than_events_are_not_read(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        fixture_alloc(&f, f.block, 0x1000 * i, 8);
    trace = fixture_open(&f);
    assert_int_equal(open_with_refusals(trace, 10), 0);
    assert_int_equal(open_with_refusals(trace, 12), -EBADMSG);
    ml_trace_free(trace);
}

/* ---- Copies of events ----------------------------------------------------------------- */

#define LATE_NS 1000

static int count_samples(void *ctx, const struct ml_event *event)
{
    size_t *count = ctx;

    *count += event->kind == ML_SAMPLE;
    return 0;
}

static size_t early_samples(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    size_t count = 0;

    assert_int_equal(
        ml_each_landmark(trace, ML_BLOCK_SAMPLES, 0, LATE_NS - 1, count_samples, &count, &err), 0);
    return count;
}

/* Damages the first byte in the first block of a type. */
static void damage_block(struct ml_buf *bytes, uint8_t type)
{
    const uint8_t head[] = {'M', 'L', 'B', 'K', type};
    uint8_t *block = memmem(bytes->data, bytes->len, head, sizeof(head));

    assert_non_null(block);
    block[ML_BLOCK_HEADER_BYTES] ^= 1;
}

/* Events after the time would give a device the figures of another instant. */
static void damaged_copies_are_replaced_by_events_of_the_same_time(void **state)
{
    struct ml_event sample = {.kind = ML_SAMPLE, .args = {1, ML_SAMPLE_USED, 5}};
    struct fixture f = fixture_begin();
    struct ml_buf bytes = {0};
    struct ml_trace *trace;

    (void)state;
    fixture_event(&f, sample);
    sample.time_ns = LATE_NS;
    fixture_event(&f, sample);
    trace = fixture_open(&f);
    assert_int_equal(early_samples(trace), 1);
    assert_int_equal(ml_checkpoint_bytes(trace, 1, &bytes), 0);
    assert_true(ml_checkpoint_attach(trace, &bytes));
    assert_int_equal(early_samples(trace), 1);
    damage_block(&bytes, ML_BLOCK_SAMPLES);
    assert_true(ml_checkpoint_attach(trace, &bytes));
    assert_int_equal(early_samples(trace), 1);
    ml_buf_release(&bytes);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_with_modules),
        cmocka_unit_test(traces_without_modules),
        cmocka_unit_test(sums_are_the_same),
        cmocka_unit_test(sums_of_other_traces),
        cmocka_unit_test(a_checkpoint_is_used),
        cmocka_unit_test(a_damaged_file_is_not_used),
        cmocka_unit_test(an_empty_trace_has_one_checkpoint),
        cmocka_unit_test(times_that_fall_are_refused),
        cmocka_unit_test(steps_are_found),
        cmocka_unit_test(steps_of_an_older_file_are_found),
        cmocka_unit_test(more_refusals_than_events_are_not_read),
        cmocka_unit_test(damaged_copies_are_replaced_by_events_of_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
