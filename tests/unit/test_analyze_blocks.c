/* test_analyze_blocks.c: addresses and lifetimes of blocks: the map of segments and the
 * lifetimes of the largest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "lifetimes.h"
#include "segment_map.h"

/* ---- Lifetimes --------------------------------------------------------- */

static struct ml_lifetimes lifetimes_of(const struct ml_trace *trace, size_t top)
{
    struct ml_error err = {0};
    struct ml_lifetimes lifetimes;

    if (ml_lifetimes(trace, &(struct ml_lifetimes_opts){.top = top}, &lifetimes, &err) < 0)
        fail_msg("%s", err.text);
    return lifetimes;
}

static void the_largest_are_kept(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_lifetimes l;
    struct ml_trace *trace;

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        fixture_alloc(&f, f.block, 0x1000 * (i + 1), 1 + i * 37 % 101);
    for (uint64_t i = 0; i < 100; i += 2)
        fixture_free(&f, f.block, 0x1000 * (i + 1));
    trace = fixture_open(&f);
    l = lifetimes_of(trace, 10);
    assert_int_equal(l.list.len, 10);
    assert_int_equal(l.blocks, 100);
    for (size_t i = 0; i < l.list.len; i++) {
        const struct ml_lifetime *one = &l.list.items[i];

        assert_true(one->bytes > 91 - 1);
        assert_true(i == 0 || one->begin_ns > l.list.items[i - 1].begin_ns);
        assert_int_equal(one->ended, one->begin_ns / 10 % 2 == 0);
        assert_int_equal(one->end_ns, one->ended ? 1000 + one->begin_ns / 2 : l.duration_ns);
    }
    ml_lifetimes_release(&l);
    l = lifetimes_of(trace, 1000);
    assert_int_equal(l.list.len, 100);
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

static void blocks_have_labels_and_categories(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_lifetimes l;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 64);
    fixture_label(&f, f.block, 0x1000, "fc.weight", MEMLEDGER_PARAMETER);
    trace = fixture_open(&f);
    l = lifetimes_of(trace, 5);
    assert_int_equal(l.list.len, 1);
    assert_string_equal(l.list.items[0].label, "fc.weight");
    assert_string_equal(l.list.items[0].owner, "unknown");
    assert_string_equal(l.list.items[0].device, "cpu");
    assert_int_equal(l.list.items[0].category, MEMLEDGER_PARAMETER);
    assert_false(l.list.items[0].ended);
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

static void blocks_end_with_their_process(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_lifetimes l;
    struct ml_trace *trace;
    uint32_t child, space;

    (void)state;
    child = fixture_process(&f, 1, 101, 0, ML_FORKED);
    space = fixture_space_of(&f, child);
    fixture_alloc(&f, space, 0x1000, 100);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {child, 1 + (7 << 8)}});
    fixture_alloc(&f, f.block, 0x1000, 60);
    fixture_alloc(&f, f.block, 0x2000, 1);
    trace = fixture_open(&f);
    l = lifetimes_of(trace, 5);
    assert_int_equal(l.list.len, 3);
    assert_false(l.list.items[0].ended);
    assert_true(l.list.items[0].end_ns < l.list.items[1].begin_ns);
    assert_int_equal(l.list.items[1].end_ns, l.duration_ns);
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

/* A picture of ten columns over the run: one long block and many short ones. */
static void others_are_added_up_by_column(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_error err = {0};
    struct ml_lifetimes l;
    struct ml_trace *trace;
    uint64_t area = 0;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    for (int i = 0; i < 49; i++) {
        fixture_alloc(&f, f.block, 0x9000, 40);
        fixture_free(&f, f.block, 0x9000);
    }
    fixture_free(&f, f.block, 0x1000);
    trace = fixture_open(&f);
    assert_int_equal(
        ml_lifetimes(trace, &(struct ml_lifetimes_opts){.top = 1, .columns = 10}, &l, &err), 0);
    assert_int_equal(l.list.len, 1);
    assert_int_equal(l.list.items[0].bytes, 100);
    assert_int_equal(l.rest_blocks, 49);
    assert_int_equal(l.rest_bytes, 49 * 40);
    assert_int_equal(l.rest_columns.len, 10);
    for (size_t i = 0; i < l.rest_columns.len; i++)
        area += l.rest_columns.items[i];
    assert_in_range(area, 49 * 40 / 10, 51 * 40 / 5); /* live about half of the time */
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

/* A short block of many bytes is more of a picture than a long one of few. */
static void a_picture_keeps_the_largest_areas(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_error err = {0};
    struct ml_lifetimes l;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 10);
    fixture_alloc(&f, f.block, 0x2000, 1000000);
    fixture_free(&f, f.block, 0x2000);
    fixture_alloc(&f, f.block, 0x3000, 20);
    fixture_free(&f, f.block, 0x3000);
    trace = fixture_open(&f);
    assert_int_equal(
        ml_lifetimes(trace, &(struct ml_lifetimes_opts){.top = 2, .columns = 4}, &l, &err), 0);
    assert_int_equal(l.list.items[0].bytes, 10);
    assert_int_equal(l.list.items[1].bytes, 1000000);
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

/* Of the same process, at the same moment. */
static void neighbours_are_beside_the_address(void **state)
{
    const uint64_t addr = 0x2010;
    struct fixture f = fixture_begin();
    struct ml_error err = {0};
    struct ml_lifetimes l;
    struct ml_trace *trace;
    uint32_t other = fixture_space_of(&f, fixture_process(&f, 1, 77, -1, 0));
    uint64_t now;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 0x100);
    fixture_alloc(&f, f.block, 0x1800, 0x100);
    fixture_alloc(&f, f.block, 0x2000, 0x100);
    fixture_alloc(&f, f.block, 0x2800, 0x100);
    fixture_free(&f, f.block, 0x2800);
    fixture_alloc(&f, f.block, 0x3000, 0x100);
    fixture_alloc(&f, other, 0x2100, 0x100);
    now = f.time_ns - 1;
    fixture_free(&f, f.block, 0x2000);
    trace = fixture_open(&f);
    assert_int_equal(
        ml_lifetimes(trace,
                     &(struct ml_lifetimes_opts){
                         .from_ns = now, .to_ns = now, .one_moment = true, .near = &addr},
                     &l, &err),
        0);
    assert_int_equal(l.list.len, 3);
    assert_int_equal(l.list.items[0].addr, 0x1800);
    assert_int_equal(l.list.items[1].addr, 0x2000);
    assert_int_equal(l.list.items[2].addr, 0x3000);
    ml_lifetimes_release(&l);
    ml_trace_free(trace);
}

/* ---- Segments ---------------------------------------------------------- */

static struct ml_segment_map map_of(const struct ml_trace *trace, size_t top)
{
    struct ml_error err = {0};
    struct ml_segment_map map;

    if (ml_segment_map(trace, &(struct ml_snapshot_opts){.at = {.kind = ML_AT_END}}, top, &map,
                       &err) < 0)
        fail_msg("%s", err.text);
    return map;
}

/* Pools before the driver's allocations; blocks across two segments; strays. */
static void holes_are_what_no_block_has(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_segment_map map;
    struct ml_trace *trace;

    (void)state;
    fixture_nest(&f);
    fixture_alloc(&f, f.driver, 0x100000, 0x40000);
    fixture_alloc(&f, f.pool, 0x100000, 0x10000);
    fixture_alloc(&f, f.pool, 0x110000, 0x8000);
    fixture_alloc(&f, f.pool, 0x120000, 0x4000);
    fixture_alloc(&f, f.block, 0x101000, 0x2000);
    fixture_alloc(&f, f.block, 0x105000, 0x1000);
    fixture_alloc(&f, f.block, 0x10f000, 0x2000); /* half in each of two */
    fixture_alloc(&f, f.block, 0x900000, 0x300);  /* in none */
    fixture_alloc(&f, f.block, 0x106000, 0x500);
    fixture_free(&f, f.block, 0x106000);
    trace = fixture_open(&f);
    map = map_of(trace, 10);
    assert_int_equal(map.segments, 3);
    assert_int_equal(map.bytes, 0x1c000);
    assert_int_equal(map.live_bytes, 0x5000);
    assert_int_equal(map.slack_bytes, 0x17000);
    assert_int_equal(map.stray_bytes, 0x300);
    assert_int_equal(map.largest_hole, 0x9000);
    assert_int_equal(map.list.items[0].bytes, 0x10000);
    assert_int_equal(map.list.items[0].holes, 3);
    assert_int_equal(map.list.items[0].live_bytes, 0x4000);
    assert_int_equal(map.list.items[1].live_bytes, 0x1000);
    assert_int_equal(map.list.items[1].largest_hole, 0x7000);
    assert_int_equal(map.list.items[2].largest_hole, 0x4000);
    assert_int_equal(map.list.items[2].count, 0);
    ml_segment_map_release(&map);
    map = map_of(trace, 1);
    assert_int_equal(map.list.len, 1);
    assert_int_equal(map.segments, 3);
    ml_segment_map_release(&map);
    ml_trace_free(trace);
}

static void without_segments_it_says_so(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_error err = {0};
    struct ml_segment_map map;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 10);
    trace = fixture_open(&f);
    assert_int_equal(ml_segment_map(trace, &(struct ml_snapshot_opts){0}, 5, &map, &err), -ENOENT);
    assert_non_null(strstr(err.text, "no pool or driver segments"));
    ml_segment_map_release(&map);
    ml_trace_free(trace);
}

/* A driver allocation of a program whose blocks are not recorded. */
static void a_segment_without_blocks_is_one(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_segment_map map;
    struct ml_trace *trace;

    (void)state;
    fixture_nest(&f);
    fixture_alloc(&f, f.driver, 0x100000, 0x4000);
    trace = fixture_open(&f);
    map = map_of(trace, 10);
    assert_int_equal(map.slack_bytes, 0);
    assert_int_equal(map.blocks.len, 1);
    assert_int_equal(map.blocks.items[0].bytes, 0x4000);
    ml_segment_map_release(&map);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(blocks_have_labels_and_categories),
        cmocka_unit_test(blocks_end_with_their_process),
        cmocka_unit_test(others_are_added_up_by_column),
        cmocka_unit_test(a_picture_keeps_the_largest_areas),
        cmocka_unit_test(neighbours_are_beside_the_address),
        cmocka_unit_test(holes_are_what_no_block_has),
        cmocka_unit_test(without_segments_it_says_so),
        cmocka_unit_test(a_segment_without_blocks_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
