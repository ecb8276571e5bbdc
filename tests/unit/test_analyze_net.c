/* test_analyze_net.c: a live table that was fed nets of events blocks equals one that was fed all
 * events: totals, peaks with their times and events, counts, live blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fed.h"

#define SEEDS 15
#define CHURN_EVENTS 30000

static void random_traces(void **state)
{
    uint64_t nets = 0, ends = 0, carried = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fed plain = compare(random_plain_trace(seed), seed, 1000);
        struct fed all = compare(random_trace(seed, false), seed, 1000);

        nets += plain.nets + all.nets;
        ends += plain.ends + all.ends;
        carried += plain.carried + all.carried;
    }
    assert_true(nets > SEEDS && ends > SEEDS && carried > SEEDS); /* else nothing was tested */
}

/* malloc and free as programs use them: most blocks are short-lived. Some frees are missing. */
static struct ml_trace *churn(uint64_t seed, uint32_t slots, bool loses)
{
    struct random_numbers random = {seed};
    struct story story = story_begin();
    uint64_t *used = calloc(slots, sizeof(*used));

    for (int i = 0; i < CHURN_EVENTS; i++) {
        uint64_t slot = random_below(&random, slots);

        if (used[slot] && !(loses && random_below(&random, 50) == 0))
            story_event(&story, (struct ml_event){.kind = ML_FREE, .addr = 4096 + 64 * slot});
        else
            story_event(&story, (struct ml_event){.kind = ML_ALLOC,
                                                  .addr = 4096 + 64 * slot,
                                                  .size = random_below(&random, 1000)});
        used[slot] = !used[slot];
    }
    free(used);
    return fixture_open(&story.f);
}

static void blocks_are_carried(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fed fed = compare(churn(seed, 100, false), seed, 10000);

        assert_true(fed.carried > fed.kept * 20);
        compare(churn(seed, 100, true), seed, 10000);
        compare(churn(seed, 2000, true), seed, 10000);
    }
}

/* Blocks that outlive many blocks of events: the number of kept events does not grow with that of
 * the events. */
static void long_lived_blocks_are_carried(void **state)
{
    struct fed fed = compare(churn(1, 4000, false), 1, 1000);

    (void)state;
    assert_true(fed.nets > 10 && fed.ends > 0);
    assert_true(fed.carried > fed.kept);
}

static void impossible_nets_are_refused(void **state)
{
    struct ml_net_step step = {.kind = ML_NET_KEPT};
    struct ml_event event = {.kind = ML_FREE};
    struct ml_net_group group = {0};
    struct ml_net_block block = {0};
    struct ml_net net = {{.kind = ML_NET_GOES_ON, .events = 1, .steps = 1, .kept = 1},
                         &step,
                         &event,
                         &group,
                         &block,
                         NULL};

    (void)state;
    assert_true(ml_net_check(&net));
    event.kind = 31;
    assert_false(ml_net_check(&net));
    event.kind = ML_FREE;
    step.event = 1;
    assert_false(ml_net_check(&net));
    step.event = 0;
    step.kind = ML_NET_TOUCH;
    assert_false(ml_net_check(&net));
    net.head.kept = 0;
    assert_true(ml_net_check(&net));
    step.kind = ML_NET_GIVE;
    assert_false(ml_net_check(&net));
    net.head.given = 1;
    assert_true(ml_net_check(&net));
    block.group = ML_NET_GROUPS_MAX;
    assert_false(ml_net_check(&net));
    block.group = 0;
    net.head.groups = 1;
    group.number = ML_NET_GROUPS_MAX;
    assert_false(ml_net_check(&net));
    net.head.groups = 0;
    net.head.steps = ML_NET_STEPS_MAX + 1;
    assert_false(ml_net_check(&net));
}

/* A net that the table did not expect breaks the series off, and no more. */
static void contradictions_are_found(void **state)
{
    struct story story = story_begin();
    struct ml_replay replay;
    struct ml_net_series series = {0};
    struct ml_net_group group = {.allocations = 1, .allocated_bytes = 10};
    struct ml_net_block block = {.addr = 4096, .size = 10};
    struct ml_net_step step = {.kind = ML_NET_LAST, .change_bytes = 10, .allocations = 1};
    struct ml_net net = {.head = {.series = 1,
                                  .kind = ML_NET_GOES_ON,
                                  .events = 1,
                                  .steps = 1,
                                  .groups = 1,
                                  .space = story.f.block},
                         .steps = &step,
                         .groups = &group,
                         .given = &block};
    struct ml_trace *trace;
    struct ml_error err = {0};

    (void)state;
    story_event(&story, (struct ml_event){.kind = ML_ALLOC, .addr = 4096, .size = 5});
    trace = fixture_open(&story.f);
    assert_int_equal(ml_replay_init(&replay, trace), 0);
    assert_int_equal(ml_replay_trace(&replay, 1, &err), 0);
    assert_true(ml_replay_takes_net(&replay, &series, &net));
    assert_int_equal(ml_replay_feed_net(&replay, &series, &net), 0);
    assert_int_equal(replay.bytes.live_bytes, 15);
    assert_false(ml_replay_takes_net(&replay, &series, &net)); /* again */
    net.head.number = 2;
    assert_false(ml_replay_takes_net(&replay, &series, &net));
    net.head = (struct ml_net_head){.series = 1,
                                    .number = 1,
                                    .kind = ML_NET_ENDS,
                                    .events = 1,
                                    .given = 1,
                                    .space = story.f.block};
    assert_true(ml_replay_takes_net(&replay, &series, &net));
    assert_int_equal(ml_replay_feed_net(&replay, &series, &net), -EBADMSG); /* two at one address */
    ml_net_series_release(&series);
    ml_replay_release(&replay);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),
        cmocka_unit_test(blocks_are_carried),
        cmocka_unit_test(long_lived_blocks_are_carried),
        cmocka_unit_test(impossible_nets_are_refused),
        cmocka_unit_test(contradictions_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
