/* test_analyze_end.c: the instant `--at end`: which process's end is that of the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "instant.h"

#define PROGRAM 0
#define HELPER 1

/* Two allocations: one of the program, one of its child. */
static struct fixture program_with_child(uint32_t *ret_space)
{
    struct fixture f = fixture_begin();

    fixture_process(&f, HELPER, 200, PROGRAM, ML_FORKED);
    *ret_space = fixture_space_of(&f, HELPER);
    fixture_alloc(&f, f.block, 0x1000, 1000);
    fixture_alloc(&f, *ret_space, 0x1000, 100);
    return f;
}

static void ends(struct fixture *f, uint32_t process, uint64_t time_ns)
{
    fixture_event(f,
                  (struct ml_event){.kind = ML_PROCESS_END, .time_ns = time_ns, .args = {process}});
}

/* The number of events before the end. Closes the fixture. */
static uint64_t end_of(struct fixture *f)
{
    struct ml_trace *trace = fixture_open(f);
    struct ml_error err = {0};
    struct ml_instant instant;

    if (ml_instant_find(trace, &(struct ml_at){.kind = ML_AT_END}, NULL, &instant, &err) < 0)
        fail_msg("%s", err.text);
    ml_trace_free(trace);
    return instant.event;
}

static void a_helper_that_outlives_the_program_does_not_decide(void **state)
{
    uint32_t helper;
    struct fixture f = program_with_child(&helper);

    (void)state;
    ends(&f, PROGRAM, 500);
    ends(&f, HELPER, 600);
    assert_int_equal(end_of(&f), 2);
}

static void nor_does_one_that_still_runs(void **state)
{
    uint32_t helper;
    struct fixture f = program_with_child(&helper);

    (void)state;
    ends(&f, PROGRAM, 500);
    assert_int_equal(end_of(&f), 2);
}

static void a_server_that_its_launcher_leaves_behind_does(void **state)
{
    uint32_t server;
    struct fixture f = program_with_child(&server);

    (void)state;
    ends(&f, PROGRAM, 500);
    ends(&f, HELPER, 2000);
    assert_int_equal(end_of(&f), 3);
}

static void so_does_a_child_that_goes_on_to_use_more(void **state)
{
    uint32_t child;
    struct fixture f = program_with_child(&child);

    (void)state;
    ends(&f, PROGRAM, 500);
    fixture_alloc(&f, child, 0x2000, 100);
    ends(&f, HELPER, 600);
    assert_int_equal(end_of(&f), 4);
}

static void a_parent_that_ends_after_its_child_is_last(void **state)
{
    uint32_t child;
    struct fixture f = program_with_child(&child);

    (void)state;
    ends(&f, HELPER, 500);
    ends(&f, PROGRAM, 510);
    assert_int_equal(end_of(&f), 3);
}

static void a_child_of_a_launcher_without_memory_is_last(void **state)
{
    uint32_t child;
    struct fixture f = fixture_begin();

    (void)state;
    fixture_process(&f, HELPER, 200, PROGRAM, ML_FORKED);
    child = fixture_space_of(&f, HELPER);
    fixture_alloc(&f, child, 0x1000, 100);
    ends(&f, PROGRAM, 500);
    ends(&f, HELPER, 600);
    assert_int_equal(end_of(&f), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helper_that_outlives_the_program_does_not_decide),
        cmocka_unit_test(nor_does_one_that_still_runs),
        cmocka_unit_test(a_server_that_its_launcher_leaves_behind_does),
        cmocka_unit_test(so_does_a_child_that_goes_on_to_use_more),
        cmocka_unit_test(a_parent_that_ends_after_its_child_is_last),
        cmocka_unit_test(a_child_of_a_launcher_without_memory_is_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
