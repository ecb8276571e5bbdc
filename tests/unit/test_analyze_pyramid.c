/* test_analyze_pyramid.c: the bands of any part of a run are the same from a pyramid, from a
 * checkpoint on, and from a replay of the whole trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_attach.h"

#include <errno.h>

#include "number_rows.h"
#include "pyramid.h"
#include "pyramid_tags.h"
#include "timeline_window.h"

#define WINDOWS 20

/* ---- The same bands ---------------------------------------------------------- */

static void assert_same_bands(const struct ml_bands *a, const struct ml_bands *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->from_scopes, b->from_scopes);
    assert_int_equal(a->total.from_ns, b->total.from_ns);
    assert_int_equal(a->total.span_ns, b->total.span_ns);
    assert_int_equal(a->total.duration_ns, b->total.duration_ns);
    assert_int_equal(a->total.peak_bytes, b->total.peak_bytes);
    assert_int_equal(a->total.peak_time_ns, b->total.peak_time_ns);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->list[i].name, b->list[i].name);
        assert_int_equal(a->list[i].rest, b->list[i].rest);
        assert_int_equal(a->list[i].peak_bytes, b->list[i].peak_bytes);
        assert_int_equal(a->list[i].share_bytes, b->list[i].share_bytes);
    }
    assert_int_equal(a->moments.len, b->moments.len);
    assert_memory_equal(a->moments.items, b->moments.items,
                        a->moments.len * sizeof(a->moments.items[0]));
    assert_memory_equal(&a->total.health, &b->total.health, sizeof(a->total.health));
}

struct pair {
    struct ml_trace *plain, *quick; /* the same trace without checkpoints, and with them */
    struct ml_bands_opts opts;
};

static void compare_window(const struct pair *p, const struct ml_columns *columns)
{
    struct ml_bands plain, quick, walked;
    struct ml_error err = {0};

    assert_int_equal(ml_bands_of_columns(p->plain, &p->opts, columns, &plain, &err), 0);
    assert_int_equal(ml_window_bands(p->quick, &p->opts, columns, &quick, &err), 0);
    assert_int_equal(ml_bands_of_columns(p->quick, &p->opts, columns, &walked, &err), 0);
    assert_same_bands(&quick, &plain);
    assert_same_bands(&walked, &plain);
    ml_bands_release(&plain);
    ml_bands_release(&quick);
    ml_bands_release(&walked);
}

static void compare_windows(const struct pair *p, struct random_numbers *random)
{
    uint64_t end_ns = ml_trace_info(p->plain)->end_ns;

    for (int i = 0; i < WINDOWS; i++) {
        uint64_t from_ns = i == 0 ? 0 : random_below(random, end_ns);
        uint64_t length_ns = 1 + random_below(random, end_ns >> random_below(random, 12));
        struct ml_columns columns =
            ml_window_columns(p->plain, from_ns, i == 0 ? end_ns : from_ns + length_ns,
                              1 + random_below(random, 300));

        compare_window(p, &columns);
    }
}

static void compare_opts(uint64_t seed, bool modules, struct ml_bands_opts opts)
{
    struct random_numbers random = {seed};
    struct pair p = {random_trace(seed, modules), random_trace(seed, modules), opts};

    attach(p.quick);
    for (int by = 0; by < ML_BANDS_BY_COUNT; by++) {
        p.opts.by = (enum ml_bands_by)by;
        compare_windows(&p, &random);
    }
    ml_trace_free(p.plain);
    ml_trace_free(p.quick);
}

static void compare(uint64_t seed, bool modules, const char *device)
{
    compare_opts(seed, modules, (struct ml_bands_opts){.device = device});
}

static void windows_of_a_training(void **state)
{
    (void)state;
    compare(1, true, NULL);
    compare(2, true, "cuda:0");
    compare(3, true, "cpu");
}

/* A pyramid has neither: both replays start at a checkpoint. */
static void windows_at_a_depth_and_of_a_process(void **state)
{
    (void)state;
    compare_opts(7, true, (struct ml_bands_opts){.depth = 1});
    compare_opts(8, true, (struct ml_bands_opts){.depth = 2, .device = "cuda:0"});
    compare_opts(9, true, (struct ml_bands_opts){.pid = 101});
    compare_opts(10, false, (struct ml_bands_opts){.pid = 100});
}

/* Labels come after their blocks, in columns of their own. */
static void windows_of_a_program_with_labels(void **state)
{
    (void)state;
    compare(4, false, NULL);
    compare(5, false, "0");
}

/* Most columns have a moment that others have, too: pages have them, and tiles refer to these. */
static struct ml_trace *repeating_trace(void)
{
    struct fixture f = fixture_begin();

    for (uint64_t i = 0; i < 12000; i++) {
        fixture_alloc(&f, f.block, 0x1000, 1000 + i / 9 % 800);
        fixture_free(&f, f.block, 0x1000);
    }
    return fixture_open(&f);
}

static void windows_of_steps_that_repeat(void **state)
{
    struct pair p = {repeating_trace(), repeating_trace(), {0}};
    struct random_numbers random = {11};
    struct ml_pyramid pyramid;

    (void)state;
    attach(p.quick);
    assert_int_equal(ml_pyramid_open(ml_trace_checkpoints(p.quick), NULL, &pyramid), 0);
    assert_true(pyramid.pages.len > 1);
    ml_pyramid_release(&pyramid);
    for (int by = 0; by < ML_BANDS_BY_COUNT; by++) {
        p.opts.by = (enum ml_bands_by)by;
        compare_windows(&p, &random);
    }
    ml_trace_free(p.plain);
    ml_trace_free(p.quick);
}

/* ---- A label of a process that has ended ---------------------------------------- */

/* It takes its memory back: the total before it is a moment, too. */
static void a_label_revives_a_process(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_bands bands;
    struct ml_error err = {0};
    uint32_t other;

    (void)state;
    fixture_process(&f, 1, 101, 0, ML_FORKED);
    other = fixture_space_of(&f, 1);
    fixture_alloc(&f, f.block, 0x1000, 1000);
    fixture_alloc(&f, other, 0x1000, 10);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    fixture_free(&f, other, 0x1000);
    fixture_label(&f, f.block, 0x1000, "w", MEMLEDGER_PARAMETER);
    fixture_alloc(&f, other, 0x1000, 10);
    trace = fixture_open(&f);
    assert_int_equal(
        ml_bands(trace, ML_BANDS_CATEGORY,
                 &(struct ml_timeline_opts){.buckets = 1, .from_ns = 25, .span_ns = 40}, &bands,
                 &err),
        0);
    assert_int_equal(bands.total.peak_bytes, 1010);
    assert_int_equal(bands.total.buckets.items[0].min_bytes, 0);
    assert_int_equal(bands.moments.items[0].bytes[MEMLEDGER_OTHER] +
                         bands.moments.items[0].bytes[MEMLEDGER_PARAMETER],
                     0);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

/* ---- Columns ------------------------------------------------------------------- */

static void columns_cover_the_window(void **state)
{
    struct ml_trace *trace = random_trace(6, false);
    uint64_t end_ns = ml_trace_info(trace)->end_ns;
    struct random_numbers random = {6};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t from_ns = random_below(&random, end_ns), wanted = 1 + random_below(&random, 2000);
        uint64_t to_ns = from_ns + 1 + random_below(&random, end_ns - from_ns);
        struct ml_columns c = ml_window_columns(trace, from_ns, to_ns, wanted);

        assert_true(ml_columns_edge_ns(&c, 0) <= from_ns);
        assert_true(ml_columns_edge_ns(&c, c.count) >= to_ns);
        assert_true(c.first + c.count <= c.of);
        assert_true(c.count >= wanted || c.of > end_ns);
        assert_true(c.count <= 2 * wanted + 2);
    }
    ml_trace_free(trace);
}

static void a_closer_look_is_not_in_the_pyramid(void **state)
{
    struct ml_trace *trace = random_trace(7, true);
    struct ml_columns columns = ml_window_columns(trace, 100, 5000, 500);
    struct ml_pyramid pyramid;
    struct ml_bands bands;

    (void)state;
    attach(trace);
    assert_int_equal(ml_pyramid_open(ml_trace_checkpoints(trace), "cpu", &pyramid), 0);
    assert_true(columns.of > (size_t)1 << pyramid.last_level);
    assert_int_equal(ml_pyramid_bands(&pyramid, trace, ML_BANDS_MODULE, &columns, &bands), -ENOENT);
    ml_bands_release(&bands);
    ml_pyramid_release(&pyramid);
    assert_int_equal(ml_pyramid_open(ml_trace_checkpoints(trace), "cuda:7", &pyramid), -ENOENT);
    ml_pyramid_release(&pyramid);
    ml_trace_free(trace);
}

/* ---- Damage --------------------------------------------------------------------- */

/* @return 0 or the failure */
static int read_all(const struct ml_trace *file, const struct ml_trace *trace)
{
    struct ml_columns columns = {.span_ns = ml_trace_info(trace)->end_ns, .of = 512, .count = 512};
    struct ml_pyramid pyramid;
    struct ml_bands bands = {0};
    int r = ml_pyramid_open(file, NULL, &pyramid);

    if (r == 0)
        r = ml_pyramid_bands(&pyramid, trace, ML_BANDS_CATEGORY, &columns, &bands);
    ml_bands_release(&bands);
    ml_pyramid_release(&pyramid);
    return r;
}

static void damage_bytes(struct ml_trace *trace)
{
    struct ml_buf bytes = bytes_of_checkpoints(trace);

    for (size_t i = 64; i < bytes.len; i += bytes.len / 50) {
        struct ml_trace *file = NULL;
        int r;

        bytes.data[i] ^= 0x20;
        r = ml_bytes_open(bytes.data, bytes.len, false, &file, NULL);
        if (r == 0)
            r = read_all(file, trace);
        assert_true(r == 0 || r == -EBADMSG || r == -ENOENT);
        ml_trace_free(file);
        bytes.data[i] ^= 0x20;
    }
    ml_buf_release(&bytes);
    ml_trace_free(trace);
}

static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    damage_bytes(random_trace(8, false));
    damage_bytes(repeating_trace());
}

/* The bytes of a file whose pyramid has so many pages, all of them at one place. */
static struct ml_buf bytes_of_pages(size_t pages)
{
    uint64_t facts[ML_PYRAMID_FACTS_FIELDS] = {
        [ML_PYRAMID_AT_VERSION] = ML_PYRAMID_VERSION, [ML_PYRAMID_SPAN_NS] = 1};
    const ml_numbers rows = {.items = facts, .len = ML_PYRAMID_FACTS_FIELDS};
    int fd = memfd_create("pages", MFD_CLOEXEC);
    struct ml_block_writer writer;
    struct ml_buf head = {0}, bytes = {0};
    ml_numbers blocks = {0};

    for (size_t i = 0; i < pages; i++)
        assert_int_equal(ml_vec_push(&blocks, 0), 0);
    assert_int_equal(ml_rows_put(&head, ML_PYRAMID_FACTS, &rows, ML_PYRAMID_FACTS_FIELDS), 0);
    assert_int_equal(ml_record_put(&head, ML_PYRAMID_DEVICE, "", 0), 0);
    assert_int_equal(ml_rows_put(&head, ML_PYRAMID_PAGES, &blocks, 1), 0);
    ml_block_writer_open(&writer, fd, 0);
    assert_int_equal(ml_block_writer_section(&writer, ML_BLOCK_PYRAMID, 0, head.data, head.len), 0);
    assert_int_equal(ml_block_writer_finish(&writer), 0);
    ml_block_writer_release(&writer);
    assert_int_equal(ml_bytes_of_fd(fd, &bytes), 0);
    close(fd);
    ml_vec_release(&blocks);
    ml_buf_release(&head);
    return bytes;
}

/* A reader keeps each page that it reads, so a small file must not have a million. */
static void too_many_pages_are_refused(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct ml_buf bytes = bytes_of_pages(ML_PYRAMID_PAGES_MAX + more);
        struct ml_trace *file = NULL;
        struct ml_pyramid pyramid;

        assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &file, NULL), 0);
        assert_int_equal(ml_pyramid_open(file, NULL, &pyramid), more ? -EBADMSG : 0);
        ml_pyramid_release(&pyramid);
        ml_trace_free(file);
        ml_buf_release(&bytes);
    }
}

static void a_file_without_pyramid(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace = fixture_open(&f);
    struct ml_pyramid pyramid;

    (void)state;
    assert_int_equal(ml_pyramid_open(trace, NULL, &pyramid), -ENOENT);
    ml_pyramid_release(&pyramid);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_a_training),
        cmocka_unit_test(windows_at_a_depth_and_of_a_process),
        cmocka_unit_test(windows_of_a_program_with_labels),
        cmocka_unit_test(windows_of_steps_that_repeat),
        cmocka_unit_test(a_label_revives_a_process),
        cmocka_unit_test(columns_cover_the_window),
        cmocka_unit_test(a_closer_look_is_not_in_the_pyramid),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(too_many_pages_are_refused),
        cmocka_unit_test(a_file_without_pyramid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
