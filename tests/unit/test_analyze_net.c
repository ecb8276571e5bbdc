/* test_analyze_net.c: a live table that was fed nets of events blocks equals one that was fed all
 * events: totals, peaks with their times and events, counts, live blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_random.h"

#include <errno.h>

#include "encode.h"
#include "net_maker.h"
#include "replay_net.h"
#include "replay_state.h"

#define SEEDS 15
#define CHURN_EVENTS 30000

struct fed {
    struct ml_replay replay;
    struct ml_net_series series;
    uint64_t nets, ends, kept, carried; /* events; of the blocks that were fed as nets */
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

static void feed_net(struct fed *fed, const struct ml_net *net)
{
    assert_true(ml_net_check(net));
    assert_true(ml_replay_takes_net(&fed->replay, &fed->series, net));
    assert_int_equal(ml_replay_feed_net(&fed->replay, &fed->series, net), 0);
}

/* A block of the trace, as a collector would make and a follower would take it. */
static void feed_block(struct fed *fed, struct ml_encoder *encoder, struct ml_net_maker *maker,
                       const struct ml_event *events, size_t count, bool ends)
{
    static uint8_t out[ML_EVENTS_RAW_MAX];
    struct ml_block_header header;
    struct ml_net net;
    bool made;

    ml_encoder_init(encoder);
    for (size_t i = 0; i < count; i++)
        ml_encoder_add(encoder, &events[i]);
    assert_true(ml_encoder_write(encoder, out, &header) > 0);
    made = ends && ml_net_maker_is_on(maker);
    if (made)
        ml_net_end(maker, (uint32_t)count, &net);
    else
        made = ml_net_make(maker, encoder, 7, &net);
    if (made && !fed->series.is_on && !ml_replay_takes_net(&fed->replay, &fed->series, &net)) {
        if (ml_net_maker_is_on(maker))
            ml_net_end(maker, (uint32_t)count, &net); /* the follower is not in the series */
        made = false;
    }
    assert_true(made || !fed->series.is_on);
    if (made)
        feed_net(fed, &net);
    if (made && net.head.kind == ML_NET_GOES_ON) {
        fed->nets++;
        fed->kept += net.head.kept;
        fed->carried += count - net.head.kept;
        return;
    }
    fed->ends += made;
    assert_int_equal(ml_replay_feed_all(&fed->replay, events, count), 0);
}

static void end_series(struct fed *fed, struct ml_net_maker *maker)
{
    struct ml_net net;

    if (!fed->series.is_on)
        return;
    ml_net_end(maker, 0, &net);
    feed_net(fed, &net);
}

/* What a live view shows, with blocks in groups. */
static void assert_counts_equal(const struct ml_replay *whole, const struct ml_replay *fed)
{
    uint64_t bytes[2] = {0}, blocks[2] = {0};
    const struct ml_replay *both[] = {whole, fed};
    const struct ml_block *block;

    for (size_t i = 0; i < 2; i++)
        for (size_t cursor = 0; (block = ml_replay_next(both[i], true, &cursor));) {
            bytes[i] += block->size;
            blocks[i] += ml_replay_count(both[i], block);
        }
    assert_int_equal(bytes[0], bytes[1]);
    assert_int_equal(blocks[0], blocks[1]);
    for (size_t i = 0; i < whole->spaces.len; i++) {
        assert_int_equal(whole->spaces.items[i].live_blocks, fed->spaces.items[i].live_blocks);
        assert_int_equal(whole->spaces.items[i].allocations, fed->spaces.items[i].allocations);
        assert_int_equal(whole->spaces.items[i].frees, fed->spaces.items[i].frees);
    }
}

/* Compares the two after each of the blocks, which have random lengths. */
static struct fed compare(struct ml_trace *trace, uint64_t seed, size_t longest)
{
    struct random_numbers random = {seed};
    struct ml_encoder *encoder = calloc(1, sizeof(*encoder));
    struct ml_net_maker *maker = ml_net_maker_new();
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
        feed_block(&fed, encoder, maker, events.items + done, length,
                   random_below(&random, 10) == 0);
        assert_counts_equal(&whole, &fed.replay);
        assert_int_equal(fed.replay.bytes.live_bytes, whole.bytes.live_bytes);
        assert_int_equal(fed.replay.bytes.peak_bytes, whole.bytes.peak_bytes);
        assert_int_equal(fed.replay.recent_peak.bytes, whole.recent_peak.bytes);
    }
    end_series(&fed, maker);
    assert_equal(&whole, &fed.replay);
    ml_replay_release(&whole);
    ml_replay_release(&fed.replay);
    ml_net_series_release(&fed.series);
    ml_vec_release(&events);
    ml_trace_free(trace);
    free(encoder);
    ml_net_maker_free(maker);
    return fed;
}

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
                         &block};

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
