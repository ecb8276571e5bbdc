/* test_analyze_near_blocks.c: the blocks of a part of a run are the same from checkpoints and from
 * the whole trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_attach.h"

#include <errno.h>

#include "lifetimes.h"
#include "near_blocks.h"

#define QUESTIONS 60

static void assert_same_block(const struct ml_lifetime *a, const struct ml_lifetime *b)
{
    assert_string_equal(a->label, b->label);
    assert_string_equal(a->module, b->module);
    assert_int_equal(a->addr, b->addr);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->begin_ns, b->begin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->ended, b->ended);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->category, b->category);
}

static void assert_same_request(const struct ml_lifetime *a, const struct ml_lifetime *b)
{
    assert_int_equal(a->requested_bytes, b->requested_bytes);
    assert_int_equal(a->has_stream, b->has_stream);
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->phase, b->phase);
}

/* @picture  which shows less of each block */
static void assert_same(const struct ml_lifetimes *a, const struct ml_lifetimes *b, bool picture)
{
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->rest_blocks, b->rest_blocks);
    assert_int_equal(a->rest_bytes, b->rest_bytes);
    assert_memory_equal(&a->health, &b->health, sizeof(a->health));
    assert_int_equal(a->list.len, b->list.len);
    for (size_t i = 0; i < a->list.len; i++) {
        assert_same_block(&a->list.items[i], &b->list.items[i]);
        if (!picture)
            assert_same_request(&a->list.items[i], &b->list.items[i]);
    }
    assert_int_equal(a->rest_columns.len, b->rest_columns.len);
    for (size_t i = 0; i < a->rest_columns.len; i++)
        assert_int_equal(a->rest_columns.items[i], b->rest_columns.items[i]);
}

static struct ml_lifetimes_opts random_question(struct random_numbers *random, uint64_t end_ns)
{
    uint64_t from_ns = random_below(random, end_ns);
    bool one_moment = random_below(random, 2);
    uint64_t length_ns = one_moment ? 0 : random_below(random, end_ns >> random_below(random, 8));

    return (struct ml_lifetimes_opts){
        .top = random_below(random, ML_NEAR_COMPLETE_MAX + 2),
        .from_ns = from_ns,
        .to_ns = from_ns + length_ns,
        .one_moment = one_moment,
        .pid = random_below(random, 4) ? 0 : 101,
        .min_bytes = random_below(random, 4) ? 0 : 100,
        .columns = one_moment || random_below(random, 2) ? 0 : 1 + random_below(random, 50),
    };
}

/* @plain   the trace; @quick  the same, with checkpoints */
static void compare(struct ml_trace *plain, struct ml_trace *quick, uint64_t seed)
{
    struct random_numbers random = {seed};

    attach(quick);
    for (int i = 0; i < QUESTIONS; i++) {
        struct ml_lifetimes_opts opts = random_question(&random, ml_trace_info(plain)->end_ns);
        struct ml_lifetimes all, near;
        struct ml_error err = {0};

        assert_int_equal(ml_lifetimes(plain, &opts, &all, &err), 0);
        assert_int_equal(ml_lifetimes(quick, &opts, &near, &err), 0);
        assert_same(&near, &all, opts.columns > 0);
        ml_lifetimes_release(&all);
        ml_lifetimes_release(&near);
    }
    ml_trace_free(plain);
    ml_trace_free(quick);
}

static struct ml_trace *plain_trace(uint64_t seed, bool modules)
{
    return random_trace_of((struct random_run){.random = {seed},
                                               .modules = modules,
                                               .ends = true,
                                               .plain = true,
                                               .whole_moves = true,
                                               .events = RANDOM_EVENTS});
}

static void parts_of_a_program(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++)
        compare(plain_trace(seed, false), plain_trace(seed, false), seed);
}

static void parts_of_a_training(void **state)
{
    (void)state;
    for (uint64_t seed = 4; seed < 7; seed++)
        compare(plain_trace(seed, true), plain_trace(seed, true), seed);
}

/* The sizes of blocks inside blocks need the whole trace, and it is read. */
static void blocks_inside_blocks(void **state)
{
    (void)state;
    compare(random_trace(7, true), random_trace(7, true), 7);
    compare(random_trace(8, false), random_trace(8, false), 8);
}

static void only_plain_traces_are_read_in_part(void **state)
{
    struct ml_trace *plain = plain_trace(1, false), *nested = random_trace(7, true);
    struct ml_near_blocks near;
    struct ml_error err = {0};

    (void)state;
    attach(plain);
    attach(nested);
    assert_int_equal(ml_near_blocks_open(&near, plain, 1, 2, &err), 0);
    ml_near_blocks_release(&near);
    assert_int_equal(ml_near_blocks_open(&near, nested, 1, 2, &err), -ENOENT);
    ml_near_blocks_release(&near);
    ml_trace_free(plain);
    ml_trace_free(nested);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_program),
        cmocka_unit_test(parts_of_a_training),
        cmocka_unit_test(blocks_inside_blocks),
        cmocka_unit_test(only_plain_traces_are_read_in_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
