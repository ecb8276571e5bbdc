/* test_target_end.c: when a process ended, by its own note, its records and when it was seen alive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target_end.h"

#define MS UINT64_C(1000000)
#define SAID (UINT64_C(60000) * MS)
#define CODE 7

/* A process with one thread, whose records have been read, in a clock of nanoseconds. */
struct fixture {
    struct ml_ticks ticks;
    struct ml_stage stage;
    struct ml_ringset shared;
    struct ml_ring ring;
    struct ml_source source;
    struct ml_target_set set;
    struct ml_target target;
};

static struct ml_target *prepare(struct fixture *f, uint64_t said, uint64_t recorded,
                                 uint64_t alive)
{
    *f = (struct fixture){.ticks = {.rate = UINT64_C(1) << 32}};
    f->stage.ticks = &f->ticks;
    f->shared.exit_clock = said;
    f->shared.exit_code = said ? 1 + CODE : 0;
    f->source = (struct ml_source){.ring = &f->ring, .ticks = recorded};
    f->set = (struct ml_target_set){.shared = &f->shared, .sources = &f->source, .count = 1};
    f->target.pidfd = -1;
    f->target.alive_ticks = alive;
    f->target.sets.items = &f->set;
    f->target.sets.len = 1;
    return &f->target;
}

static void check_end(struct ml_target *t, const struct fixture *f, uint64_t found, uint64_t end,
                      bool said)
{
    ml_target_find_end(&f->stage, t, found);
    assert_int_equal(t->end_ticks, end);
    assert_int_equal(t->end_ns, end);
    assert_int_equal(ml_target_exit_status(t), said ? 1 + CODE * 256 : 0);
}

static void a_slow_teardown_keeps_the_note(void **state)
{
    uint64_t alive = SAID + 5000 * MS, found = alive + 100 * MS;
    struct fixture f;

    (void)state;
    check_end(prepare(&f, SAID, SAID - MS, SAID - MS), &f, SAID + MS, SAID, true);
    check_end(prepare(&f, SAID, SAID + MS, alive), &f, found, alive, true);
    check_end(prepare(&f, SAID, SAID + MS, SAID + 31000 * MS), &f, SAID + 31100 * MS,
              SAID + 31100 * MS, false);
}

static void a_process_that_records_on_has_not_exited(void **state)
{
    uint64_t recorded = SAID + 2000 * MS, found = recorded + 100 * MS;
    struct fixture f;

    (void)state;
    check_end(prepare(&f, SAID, recorded, recorded), &f, found, found, false);
    check_end(prepare(&f, 0, recorded, recorded), &f, found, found, false);
}

static void an_end_moves_no_further_than_what_is_known(void **state)
{
    struct ml_target *t;
    struct fixture f;

    (void)state;
    t = prepare(&f, 0, 20 * MS, 10 * MS);
    ml_target_find_end(&f.stage, t, 90 * MS);
    ml_target_end_before(&f.stage, t, 95 * MS);
    assert_int_equal(t->end_ticks, 90 * MS);
    ml_target_end_before(&f.stage, t, 50 * MS);
    assert_int_equal(t->end_ticks, 50 * MS);
    ml_target_end_before(&f.stage, t, 15 * MS);
    assert_int_equal(t->end_ticks, 20 * MS);
    t = prepare(&f, 0, 20 * MS, 30 * MS);
    ml_target_find_end(&f.stage, t, 90 * MS);
    ml_target_end_before(&f.stage, t, 15 * MS);
    assert_int_equal(t->end_ticks, 30 * MS);
}

static void known_ends_stay(void **state)
{
    struct ml_target *t;
    struct fixture f;

    (void)state;
    t = prepare(&f, 0, 0, 0);
    t->replaced = true;
    ml_target_end_at(t, 90 * MS, 90 * MS);
    ml_target_end_before(&f.stage, t, 50 * MS);
    assert_int_equal(t->end_ticks, 90 * MS);
    t = prepare(&f, 80 * MS, 0, 0);
    ml_target_find_end(&f.stage, t, 90 * MS);
    ml_target_end_before(&f.stage, t, 50 * MS);
    assert_int_equal(t->end_ticks, 80 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_teardown_keeps_the_note),
        cmocka_unit_test(a_process_that_records_on_has_not_exited),
        cmocka_unit_test(an_end_moves_no_further_than_what_is_known),
        cmocka_unit_test(known_ends_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
