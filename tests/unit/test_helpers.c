/* test_helpers.c: whose scope an allocation gets that a worker of a pool makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

enum { MAIN, OTHER, WORKER, THREADS };

struct pool {
    struct ml_source sources[THREADS];
    struct ml_target_set set;
    struct ml_target target;
};

/* The target points into the pool, which must not move. */
static void begin(struct pool *p)
{
    *p = (struct pool){.set = {.sources = p->sources, .count = THREADS, .used = THREADS}};
    p->target.sets.items = &p->set;
    p->target.sets.len = 1;
    for (uint32_t i = 0; i < THREADS; i++)
        p->sources[i] = (struct ml_source){.target = &p->target, .open = true, .thread = i};
}

static uint32_t scope_of_allocation(struct pool *p)
{
    struct ml_event event = {.kind = ML_ALLOC, .scope = p->sources[WORKER].place.scope};

    p->sources[WORKER].helps = true;
    ml_source_help(&p->sources[WORKER], &event);
    assert_false(p->sources[WORKER].helps);
    return event.scope;
}

static void the_only_thread_in_a_scope_is_helped(void **state)
{
    struct pool p;

    (void)state;
    begin(&p);
    p.sources[MAIN].place.scope = 7;
    assert_int_equal(scope_of_allocation(&p), 7);
}

static void among_several_the_one_helped_before(void **state)
{
    struct pool p;

    (void)state;
    begin(&p);
    p.sources[MAIN].place.scope = 7;
    p.sources[OTHER].place.scope = 8;
    assert_int_equal(scope_of_allocation(&p), 0);
    p.sources[MAIN].place.scope = 0;
    assert_int_equal(scope_of_allocation(&p), 8);
    p.sources[MAIN].place.scope = 7;
    assert_int_equal(scope_of_allocation(&p), 8);
}

static void a_thread_that_has_ended_is_not_helped(void **state)
{
    struct pool p;

    (void)state;
    begin(&p);
    p.sources[MAIN].place.scope = 7;
    p.sources[MAIN].open = false;
    assert_int_equal(scope_of_allocation(&p), 0);
}

static void its_own_scope_counts_first(void **state)
{
    struct pool p;

    (void)state;
    begin(&p);
    p.sources[MAIN].place.scope = 7;
    p.sources[WORKER].place.scope = 9;
    assert_int_equal(scope_of_allocation(&p), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_thread_in_a_scope_is_helped),
        cmocka_unit_test(among_several_the_one_helped_before),
        cmocka_unit_test(a_thread_that_has_ended_is_not_helped),
        cmocka_unit_test(its_own_scope_counts_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
