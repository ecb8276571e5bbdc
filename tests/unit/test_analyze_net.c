/* test_analyze_net.c: a live table that was fed nets of events blocks equals one that was fed all
 * events: totals, peaks with their times and events, counts, live blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_random.h"

#include "encode.h"
#include "replay_net.h"
#include "replay_state.h"

#define SEEDS 15
#define CHURN_EVENTS 30000

struct fed {
    struct ml_replay replay;
    uint64_t nets, pairs, kept; /* of the blocks that were fed as nets */
};

/* The table's state without what depends on its pool's order. */
static void put_state(struct ml_replay *r, struct ml_buf *out)
{
    ml_replay_settle(r);
    r->free_block = 0;
    ml_map_release(&r->moved);
    assert_int_equal(ml_replay_put_state(r, out), 0);
}

static int by_place(const void *a, const void *b)
{
    const struct ml_block *x = a, *y = b;

    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t list_live(struct ml_replay *r)
{
    size_t live = 0;

    for (size_t i = 0; i < r->blocks.len; i++)
        if (r->blocks.items[i].live)
            r->blocks.items[live++] = r->blocks.items[i];
    qsort(r->blocks.items, live, sizeof(r->blocks.items[0]), by_place);
    return live;
}

static void assert_equal(struct ml_replay *a, struct ml_replay *b)
{
    struct ml_buf x = {0}, y = {0};
    size_t live = list_live(a);

    assert_int_equal(live, list_live(b));
    if (live > 0)
        assert_memory_equal(a->blocks.items, b->blocks.items, live * sizeof(a->blocks.items[0]));
    put_state(a, &x);
    put_state(b, &y);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    ml_buf_release(&x);
    ml_buf_release(&y);
}

/* A block of the trace, as a collector would make and a follower would take it. */
static void feed_block(struct fed *fed, struct ml_encoder *encoder, struct ml_net_maker *maker,
                       const struct ml_event *events, size_t count)
{
    static uint8_t out[ML_EVENTS_RAW_MAX];
    struct ml_block_header header;
    struct ml_net net;

    ml_encoder_init(encoder);
    for (size_t i = 0; i < count; i++)
        ml_encoder_add(encoder, &events[i]);
    assert_true(ml_encoder_write(encoder, out, &header) > 0);
    if (ml_net_make(maker, encoder, &net) && ml_replay_takes_net(&fed->replay, &net)) {
        assert_true(ml_net_check(&net));
        assert_int_equal(net.head.kept + 2 * net.head.pairs, count);
        assert_int_equal(ml_replay_feed_net(&fed->replay, &net), 0);
        fed->nets++;
        fed->pairs += net.head.pairs;
        fed->kept += net.head.kept;
        return;
    }
    assert_int_equal(ml_replay_feed_all(&fed->replay, events, count), 0);
}

/* Compares the two after each of the blocks, which have random lengths. */
static struct fed compare(struct ml_trace *trace, uint64_t seed, size_t longest)
{
    struct random_numbers random = {seed};
    struct ml_encoder *encoder = calloc(1, sizeof(*encoder));
    struct ml_net_maker *maker = malloc(ml_net_maker_bytes());
    ML_VEC(struct ml_event) events = {0};
    const struct ml_event *batch;
    struct ml_cursor *cursor;
    struct ml_error err = {0};
    struct ml_replay whole;
    struct fed fed = {0};
    size_t length;
    int n;

    assert_int_equal(ml_replay_init(&whole, trace), 0);
    assert_int_equal(ml_replay_init(&fed.replay, trace), 0);
    assert_int_equal(ml_cursor_open(trace, 0, UINT64_MAX, &cursor, &err), 0);
    while ((n = ml_cursor_next(cursor, &batch, &err)) > 0)
        for (int i = 0; i < n; i++)
            assert_int_equal(ml_vec_push(&events, batch[i]), 0);
    ml_cursor_free(cursor);
    for (size_t done = 0; done < events.len; done += length) {
        length = 1 + random_below(&random, longest);
        length = ml_min_u64(length, events.len - done);
        assert_int_equal(ml_replay_feed_all(&whole, events.items + done, length), 0);
        feed_block(&fed, encoder, maker, events.items + done, length);
        assert_int_equal(fed.replay.bytes.live_bytes, whole.bytes.live_bytes);
        assert_int_equal(fed.replay.bytes.peak_bytes, whole.bytes.peak_bytes);
        assert_int_equal(fed.replay.recent_peak.bytes, whole.recent_peak.bytes);
    }
    assert_equal(&whole, &fed.replay);
    ml_replay_release(&whole);
    ml_replay_release(&fed.replay);
    ml_vec_release(&events);
    ml_trace_free(trace);
    free(encoder);
    free(maker);
    return fed;
}

static void random_traces(void **state)
{
    uint64_t nets = 0, pairs = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fed plain = compare(random_plain_trace(seed), seed, 1000);
        struct fed all = compare(random_trace(seed, false), seed, 1000);

        nets += plain.nets + all.nets;
        pairs += plain.pairs + all.pairs;
    }
    assert_true(nets > SEEDS && pairs > SEEDS); /* else nothing was tested */
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

static void short_lived_blocks_are_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fed fed = compare(churn(seed, 100, false), seed, 10000);

        assert_true(fed.pairs * 2 > fed.kept * 4);
        compare(churn(seed, 100, true), seed, 10000);
        compare(churn(seed, 2000, true), seed, 10000);
    }
}

static void impossible_nets_are_refused(void **state)
{
    struct ml_net_step step = {.kind = ML_NET_KEPT};
    struct ml_event event = {.kind = ML_FREE};
    struct ml_net net = {{.events = 1, .steps = 1, .kept = 1}, &step, &event};

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
    net.head.steps = ML_NET_STEPS_MAX + 1;
    assert_false(ml_net_check(&net));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),
        cmocka_unit_test(short_lived_blocks_are_left_out),
        cmocka_unit_test(impossible_nets_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
