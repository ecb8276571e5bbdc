/* test_analyze_replay.c: the live table: what is live, what it adds up to, and
 * books that do not add up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_replayed.h"

static void frees_take_out_what_allocations_put_in(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_alloc(&f, f.block, 0x2000, 50); /* time 10: the peak */
    fixture_free(&f, f.block, 0x1000);
    fixture_alloc(&f, f.block, 0x1000, 20);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, 70);
    assert_int_equal(r.replay.bytes.peak_bytes, 150);
    assert_int_equal(r.replay.bytes.peak_time_ns, 10);
    assert_int_equal(r.replay.peak_event, 2);
    assert_int_equal(r.replay.spaces.items[0].allocations, 3);
    assert_int_equal(r.replay.spaces.items[0].frees, 1);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, 2);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 0x1000)->size, 20);
    assert_null(ml_replay_find(&r.replay, f.block, 0x1001));
    replayed_release(&r);
}

static void only_the_innermost_level_is_counted(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_nest(&f);
    fixture_alloc(&f, f.driver, 0x1000, 1000);
    fixture_alloc(&f, f.pool, 0x1000, 500);
    fixture_alloc(&f, f.block, 0x1000, 100);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 100);
    assert_int_equal(r.replay.devices.items[0].bytes.peak_bytes, 100);
    assert_int_equal(r.replay.devices.items[0].levels[MEMLEDGER_DRIVER].peak_bytes, 1000);
    assert_int_equal(r.replay.devices.items[0].levels[MEMLEDGER_POOL].peak_bytes, 500);
    assert_int_equal(r.replay.devices.items[0].levels[MEMLEDGER_BLOCK].peak_bytes, 100);
    replayed_release(&r);
}

static void a_device_without_blocks_counts_its_driver(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t gpu = ml_maker_string(f.maker, "cuda:0");
    uint32_t space =
        ml_maker_space(f.maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f.maker, "cuMemAlloc"));
    struct replayed r;

    (void)state;
    fixture_alloc(&f, space, 0x1000, 1000);
    fixture_alloc(&f, f.block, 0x1000, 100);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 1100);
    assert_int_equal(r.replay.devices.len, 2);
    replayed_release(&r);
}

static void an_allocation_in_a_live_place_replaces(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_alloc(&f, f.block, 0x1000, 30);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.replaced, 1);
    assert_int_equal(r.replay.bytes.live_bytes, 30);
    assert_int_equal(r.replay.spaces.items[0].frees, 0);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, 1);
    replayed_release(&r);
}

static void unknown_frees_are_counted(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t child, space;
    struct replayed r;

    (void)state;
    child = fixture_process(&f, 1, 101, 0, ML_FORKED);
    space = fixture_space_of(&f, child);
    fixture_free(&f, f.block, 0x1000);
    fixture_free(&f, f.block, 0); /* freeing nothing is allowed */
    fixture_free(&f, space, 0x1000);
    fixture_free(&f, space, 0x2000);
    fixture_label(&f, f.block, 0x1000, "nothing", MEMLEDGER_INPUT);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.unknown_frees, 1);
    assert_int_equal(r.replay.inherited_frees, 2);
    assert_int_equal(r.replay.unknown_labels, 1);
    assert_int_equal(r.replay.bytes.live_bytes, 0);
    replayed_release(&r);
}

static void the_same_address_lives_once_per_space(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t other;
    struct replayed r;

    (void)state;
    other = fixture_space_of(&f, 0);
    fixture_alloc(&f, f.block, 0x1000, 1);
    fixture_alloc(&f, other, 0x1000, 2);
    fixture_free(&f, f.block, 0x1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, 2);
    assert_int_equal(r.replay.replaced, 0);
    replayed_release(&r);
}

/* ---- Resizing ---------------------------------------------------------- */

static void fixture_move(struct fixture *f, uint8_t kind, uint64_t addr)
{
    fixture_event(f, (struct ml_event){.kind = kind, .space = f->block, .addr = addr});
}

static void a_resize_keeps_the_label(void **state)
{
    struct fixture f = fixture_begin();
    const struct ml_block *block;
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_label(&f, f.block, 0x1000, "weight", MEMLEDGER_PARAMETER);
    fixture_move(&f, ML_MOVE, 0x1000);
    fixture_alloc(&f, f.block, 0x5000, 300);
    r = replay_fixture(&f);
    block = ml_replay_find(&r.replay, f.block, 0x5000);
    assert_non_null(block);
    assert_string_equal(ml_trace_string(r.trace, block->label, NULL), "weight");
    assert_int_equal(block->category, MEMLEDGER_PARAMETER);
    assert_int_equal(r.replay.categories[MEMLEDGER_PARAMETER].bytes.live_bytes, 300);
    assert_int_equal(r.replay.spaces.items[0].allocations, 2);
    assert_int_equal(r.replay.spaces.items[0].frees, 1);
    replayed_release(&r);
}

static void a_failed_resize_leaves_the_block(void **state)
{
    struct fixture f = fixture_begin();
    const struct ml_block *block;
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_label(&f, f.block, 0x1000, "weight", MEMLEDGER_PARAMETER);
    fixture_move(&f, ML_MOVE, 0x1000);
    fixture_move(&f, ML_MOVE_FAILED, 0x1000);
    r = replay_fixture(&f);
    block = ml_replay_find(&r.replay, f.block, 0x1000);
    assert_non_null(block);
    assert_int_equal(block->time_ns, 0);
    assert_int_equal(block->category, MEMLEDGER_PARAMETER);
    assert_int_equal(r.replay.bytes.live_bytes, 100);
    assert_int_equal(r.replay.spaces.items[0].frees, 0);
    assert_int_equal(r.replay.categories[MEMLEDGER_PARAMETER].frees, 0);
    replayed_release(&r);
}

static void a_failed_resize_of_an_unknown_block_is_no_free(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_move(&f, ML_MOVE, 0x1000);
    fixture_move(&f, ML_MOVE_FAILED, 0x1000);
    fixture_move(&f, ML_MOVE_FAILED, 0x1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.unknown_frees, 0);
    replayed_release(&r);
}

static void threads_resize_side_by_side(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    ml_maker_thread(f.maker, 0, 101, 0);
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_alloc(&f, f.block, 0x2000, 200);
    fixture_event(
        &f, (struct ml_event){.kind = ML_MOVE, .thread = 0, .space = f.block, .addr = 0x1000});
    fixture_event(
        &f, (struct ml_event){.kind = ML_MOVE, .thread = 1, .space = f.block, .addr = 0x2000});
    fixture_event(&f, (struct ml_event){
                          .kind = ML_MOVE_FAILED, .thread = 0, .space = f.block, .addr = 0x1000});
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .thread = 1, .space = f.block, .addr = 0x2000, .size = 250});
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.live_bytes, 350);
    assert_int_equal(r.replay.spaces.items[0].live_blocks, 2);
    replayed_release(&r);
}

/* ---- Labels ------------------------------------------------------------ */

static void labels_move_bytes_between_categories(void **state)
{
    struct fixture f = fixture_begin();
    const struct ml_replay_category *categories;
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_label(&f, f.block, 0x1000, "a", MEMLEDGER_GRADIENT);
    fixture_label(&f, f.block, 0x1000, "b", MEMLEDGER_INPUT);
    fixture_alloc(&f, f.block, 0x2000, 7);
    fixture_label(&f, f.block, 0x2000, "c", 250); /* a category of the future */
    r = replay_fixture(&f);
    categories = r.replay.categories;
    assert_int_equal(categories[MEMLEDGER_GRADIENT].bytes.live_bytes, 0);
    assert_int_equal(categories[MEMLEDGER_GRADIENT].allocations, 0);
    assert_int_equal(categories[MEMLEDGER_INPUT].bytes.live_bytes, 100);
    assert_int_equal(categories[MEMLEDGER_INPUT].allocations, 1);
    assert_int_equal(categories[MEMLEDGER_OTHER].bytes.live_bytes, 7);
    /* labelled at once, it never was of no category */
    assert_int_equal(categories[MEMLEDGER_OTHER].bytes.peak_bytes, 7);
    replayed_release(&r);
}

static void an_instant_learns_later_names(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_error err = {0};
    struct replayed r;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 1);
    fixture_alloc(&f, f.block, 0x2000, 2);
    fixture_alloc(&f, f.block, 0x3000, 4); /* the instant: three events */
    fixture_free(&f, f.block, 0x2000);
    fixture_alloc(&f, f.block, 0x2000, 8);
    fixture_label(&f, f.block, 0x1000, "first", MEMLEDGER_INPUT);
    fixture_label(&f, f.block, 0x1000, "second", MEMLEDGER_GRADIENT);
    fixture_label(&f, f.block, 0x2000, "another block", MEMLEDGER_INPUT);
    r.trace = fixture_open(&f);
    assert_int_equal(ml_replay_init(&r.replay, r.trace), 0);
    assert_int_equal(ml_replay_instant(&r.replay, 3, UINT64_MAX, &err), 0);
    assert_int_equal(r.replay.bytes.live_bytes, 7);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 0x1000)->category, MEMLEDGER_INPUT);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 0x2000)->label, 0);
    assert_int_equal(ml_replay_find(&r.replay, f.block, 0x3000)->label, 0);
    replayed_release(&r);
}

/* ---- Processes --------------------------------------------------------- */

static void the_end_of_a_process_gives_its_memory_back(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t child, space;
    struct replayed r;
    size_t cursor = 0;

    (void)state;
    child = fixture_process(&f, 1, 101, 0, ML_FORKED);
    space = fixture_space_of(&f, child);
    fixture_alloc(&f, space, 0x1000, 100);
    fixture_label(&f, space, 0x1000, "x", MEMLEDGER_INPUT);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {child, 1 + (7 << 8)}});
    fixture_alloc(&f, f.block, 0x1000, 60);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 100);
    assert_int_equal(r.replay.bytes.live_bytes, 60);
    assert_int_equal(r.replay.categories[MEMLEDGER_INPUT].bytes.live_bytes, 0);
    assert_int_equal(ml_replay_next(&r.replay, false, &cursor)->size, 60);
    assert_null(ml_replay_next(&r.replay, false, &cursor));
    cursor = 0;
    assert_int_equal(ml_replay_next(&r.replay, true, &cursor)->category, MEMLEDGER_INPUT);
    cursor = 0;
    assert_int_equal(ml_replay_next(&r.replay, true, &cursor)->size, 100);
    assert_int_equal(ml_replay_next(&r.replay, true, &cursor)->size, 60);
    replayed_release(&r);
}

static void exec_gives_the_former_memory_back(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t after, space;
    struct replayed r;

    (void)state;
    after = fixture_process(&f, 1, 100, 0, ML_EXECED);
    space = fixture_space_of(&f, after);
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_alloc(&f, space, 0x1000, 30);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 100);
    assert_int_equal(r.replay.bytes.live_bytes, 30);
    replayed_release(&r);
}

static void a_process_that_goes_on_is_alive_again(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;
    size_t cursor = 0;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    fixture_alloc(&f, f.block, 0x2000, 30);
    fixture_free(&f, f.block, 0x1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 130);
    assert_int_equal(r.replay.bytes.live_bytes, 30);
    assert_int_equal(ml_replay_next(&r.replay, true, &cursor)->size, 30);
    assert_null(ml_replay_next(&r.replay, true, &cursor));
    replayed_release(&r);
}

/* ---- Other events ------------------------------------------------------ */

static void losses_are_added_up_by_reason(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_event(&f, (struct ml_event){.kind = ML_LOST, .args = {5, 0, ML_LOST_RING_FULL}});
    fixture_event(&f, (struct ml_event){.kind = ML_LOST, .args = {2, 0, ML_LOST_NOT_WRITTEN}});
    fixture_event(&f, (struct ml_event){.kind = ML_LOST, .args = {3, 0, ML_LOST_NOT_FOLLOWED}});
    fixture_event(&f, (struct ml_event){.kind = ML_LOST, .args = {1, 0, 99}});
    fixture_event(&f, (struct ml_event){.kind = ML_OOM, .space = f.block, .size = 1});
    r = replay_fixture(&f);
    assert_int_equal(r.replay.lost, 11);
    assert_int_equal(r.replay.lost_by[ML_LOST_RING_FULL], 5);
    assert_int_equal(r.replay.lost_by[ML_LOST_NOT_FOLLOWED], 3);
    assert_int_equal(r.replay.lost_by[ML_LOST_NOT_WRITTEN], 2);
    assert_int_equal(r.replay.lost_by[0], 1);
    assert_int_equal(r.replay.ooms, 1);
    replayed_release(&r);
}

/* What a program reports of an arena that it took from malloc is counted once,
 * with the rest of the arena and of the heap. */
static void a_block_in_the_heap_is_cut_from_it(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t name = ml_maker_string(f.maker, ML_HEAP_SPACE_NAME);
    uint32_t heap = fixture_space(&f, ML_HEAP_SPACE_NAME);
    struct replayed r;

    (void)state;
    fixture_alloc(&f, heap, 0x1000, 500);    /* an arena */
    fixture_alloc(&f, heap, 0x9000, 30);     /* leaked */
    fixture_alloc(&f, f.block, 0x1000, 100); /* in the arena */
    fixture_event(&f, (struct ml_event){.kind = ML_LABEL,
                                        .space = f.block,
                                        .addr = 0x1000,
                                        .args = {name, MEMLEDGER_PARAMETER}});
    fixture_alloc(&f, f.block, 0x1100, 200);  /* likewise, never freed */
    fixture_alloc(&f, f.block, 0x20000, 7);   /* somewhere else */
    fixture_alloc(&f, f.block, 0x9010, 1000); /* begins in the heap, is not of it */
    fixture_free(&f, f.block, 0x9010);
    fixture_free(&f, f.block, 0x1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 500 + 30 + 7 + 1000);
    assert_int_equal(r.replay.bytes.live_bytes, 500 + 30 + 7);
    assert_int_equal(r.replay.categories[MEMLEDGER_PARAMETER].bytes.peak_bytes, 100);
    assert_int_equal(ml_replay_find(&r.replay, heap, 0x1000)->size, 300);
    replayed_release(&r);
}

/* Every malloc that a framework reports as a block of its own is such a peak. */
static void a_peak_has_the_blocks_inside_the_one_that_made_it(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t map = fixture_space(&f, ML_MAP_SPACE_NAME);
    uint32_t heap = fixture_space(&f, ML_HEAP_SPACE_NAME);
    struct replayed r;

    (void)state;
    fixture_alloc(&f, map, 0x10000, 1000); /* makes the peak */
    fixture_alloc(&f, heap, 0x10000, 900);
    fixture_alloc(&f, f.block, 0x10000, 800); /* the same total, with a name */
    fixture_free(&f, f.block, 0x10000);
    fixture_free(&f, heap, 0x10000);
    fixture_free(&f, map, 0x10000);
    fixture_alloc(&f, heap, 0x10000, 1000); /* as high again, but not higher */
    fixture_alloc(&f, f.block, 0x10000, 1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 1000);
    assert_int_equal(r.replay.bytes.peak_time_ns, 0);
    assert_int_equal(r.replay.peak_event, 3);
    assert_int_equal(r.replay.recent_peak.event, 3);
    replayed_release(&r);
}

static void what_is_left_of_a_freed_arena_stays(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t heap = fixture_space(&f, ML_HEAP_SPACE_NAME);
    struct replayed r;

    (void)state;
    fixture_alloc(&f, heap, 0x1000, 500);
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_free(&f, heap, 0x1000);
    fixture_alloc(&f, heap, 0x1000, 60); /* the entry is another's now */
    fixture_free(&f, f.block, 0x1000);
    fixture_free(&f, heap, 0x1000);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 500);
    assert_int_equal(r.replay.bytes.live_bytes, 0);
    replayed_release(&r);
}

/* Half of a mapping goes, with a block of the heap over most of it. */
static void part_of_what_was_cut_from_can_go(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t heap = fixture_space(&f, ML_HEAP_SPACE_NAME);
    uint32_t map = fixture_space(&f, ML_MAP_SPACE_NAME);
    struct replayed r;

    (void)state;
    fixture_alloc(&f, map, 0x10000, 1000);
    fixture_alloc(&f, heap, 0x10000, 900);
    fixture_free(&f, heap, 0x10000);
    fixture_alloc(&f, heap, 0x10000, 400);
    fixture_free_range(&f, map, 0x10000 + 500, 500);
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 1000);
    assert_int_equal(r.replay.bytes.live_bytes, 500);
    replayed_release(&r);
}

static void undefined_numbers_do_no_harm(void **state)
{
    struct fixture f = fixture_begin();
    struct replayed r;

    (void)state;
    fixture_alloc(&f, 16000000, 0x1000, 100);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {4000000000, 0}});
    fixture_event(&f,
                  (struct ml_event){.kind = ML_MOVE, .thread = 4000000000, .space = 5, .addr = 1});
    r = replay_fixture(&f);
    assert_int_equal(r.replay.bytes.peak_bytes, 100);
    replayed_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frees_take_out_what_allocations_put_in),
        cmocka_unit_test(only_the_innermost_level_is_counted),
        cmocka_unit_test(a_device_without_blocks_counts_its_driver),
        cmocka_unit_test(an_allocation_in_a_live_place_replaces),
        cmocka_unit_test(unknown_frees_are_counted),
        cmocka_unit_test(the_same_address_lives_once_per_space),
        cmocka_unit_test(a_resize_keeps_the_label),
        cmocka_unit_test(a_failed_resize_leaves_the_block),
        cmocka_unit_test(a_failed_resize_of_an_unknown_block_is_no_free),
        cmocka_unit_test(threads_resize_side_by_side),
        cmocka_unit_test(labels_move_bytes_between_categories),
        cmocka_unit_test(an_instant_learns_later_names),
        cmocka_unit_test(the_end_of_a_process_gives_its_memory_back),
        cmocka_unit_test(exec_gives_the_former_memory_back),
        cmocka_unit_test(a_process_that_goes_on_is_alive_again),
        cmocka_unit_test(losses_are_added_up_by_reason),
        cmocka_unit_test(a_block_in_the_heap_is_cut_from_it),
        cmocka_unit_test(what_is_left_of_a_freed_arena_stays),
        cmocka_unit_test(a_peak_has_the_blocks_inside_the_one_that_made_it),
        cmocka_unit_test(part_of_what_was_cut_from_can_go),
        cmocka_unit_test(undefined_numbers_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
