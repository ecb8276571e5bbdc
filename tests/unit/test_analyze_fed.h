/* test_analyze_fed.h: a live table that is fed nets of events blocks beside one that is fed all
 * events. The two are compared after each block: totals, peaks with their times and events, counts,
 * live blocks, and in a trace with modules the category and the label of each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_ANALYZE_FED_H
#define ML_TEST_ANALYZE_FED_H

#include "test_analyze_random.h"

#include <errno.h>

#include "encode.h"
#include "following_classes.h"
#include "net_maker.h"
#include "replay_net.h"
#include "replay_state.h"

struct fed {
    struct ml_replay replay;
    struct ml_following_classes *classes; /* NULL: the trace has no modules */
    struct ml_net_series series;
    uint64_t nets, ends, kept, carried; /* events; of the blocks that were fed as nets */
    uint64_t by_kind[ML_KIND_COUNT];    /* of the kept ones */
};

static inline void fed_begin(struct fed *fed, const struct ml_trace *trace)
{
    bool failed = false;

    *fed = (struct fed){0};
    /* A recording that goes on has no index; rules for what is not labelled yet depend on it. */
    ((struct ml_trace_info *)ml_trace_info(trace))->has_index = false;
    assert_int_equal(ml_replay_init(&fed->replay, trace), 0);
    if (ml_classes_are_needed(trace, &failed))
        assert_int_equal(ml_following_classes_new(trace, &fed->classes), 0);
    assert_false(failed);
}

static inline void fed_release(struct fed *fed)
{
    ml_following_classes_free(fed->classes);
    ml_replay_release(&fed->replay);
    ml_net_series_release(&fed->series);
}

static inline void feed_events(struct fed *fed, const struct ml_event *events, size_t count)
{
    assert_int_equal(ml_replay_feed_all(&fed->replay, events, count), 0);
    if (fed->classes)
        assert_int_equal(ml_following_classes_feed(fed->classes, events, count), 0);
}

/* The table's state without what depends on its pool's order, or is only a shortcut. */
static inline void put_state(struct ml_replay *r, struct ml_buf *out)
{
    ml_replay_settle(r);
    r->free_block = 0;
    r->last_space = 0; /* the latest lookup */
    ml_map_release(&r->moved);
    assert_int_equal(ml_replay_put_state(r, out), 0);
}

static inline int by_place(const void *a, const void *b)
{
    const struct ml_block *x = a, *y = b;

    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static inline size_t list_live(struct ml_replay *r)
{
    size_t live = 0;

    for (size_t i = 0; i < r->blocks.len; i++)
        if (r->blocks.items[i].live)
            r->blocks.items[live++] = r->blocks.items[i];
    qsort(r->blocks.items, live, sizeof(r->blocks.items[0]), by_place);
    return live;
}

static inline void assert_equal(struct ml_replay *a, struct ml_replay *b)
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

static inline bool takes_net(const struct fed *fed, const struct ml_net *net)
{
    return ml_replay_takes_net(&fed->replay, &fed->series, net) &&
           (!fed->classes || ml_following_classes_take_net(fed->classes, net));
}

static inline void feed_net(struct fed *fed, const struct ml_net *net)
{
    assert_true(ml_net_check(net));
    assert_true(takes_net(fed, net));
    assert_int_equal(ml_replay_feed_net(&fed->replay, &fed->series, net), 0);
    if (fed->classes)
        assert_int_equal(ml_following_classes_feed_net(fed->classes, net), 0);
    for (uint32_t i = 0; i < net->head.kept; i++)
        fed->by_kind[net->kept[i].kind]++;
}

/* A block of the trace, as a collector would make and a follower would take it. */
static inline void feed_block(struct fed *fed, struct ml_encoder *encoder,
                              struct ml_net_maker *maker, const struct ml_event *events,
                              size_t count, bool ends)
{
    static uint8_t out[ML_EVENTS_RAW_MAX];
    const struct ml_net_begin begin = {.number = 7, .classes = fed->classes != NULL};
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
        made = ml_net_make(maker, encoder, &begin, &net);
    if (made && !fed->series.is_on && !takes_net(fed, &net)) {
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
    feed_events(fed, events, count);
}

static inline void end_series(struct fed *fed, struct ml_net_maker *maker)
{
    struct ml_net net;

    if (!fed->series.is_on)
        return;
    ml_net_end(maker, 0, &net);
    feed_net(fed, &net);
}

/* What a live view shows, with blocks in groups. */
static inline void assert_counts_equal(const struct ml_replay *whole, const struct ml_replay *fed)
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

/* Categories and labels of the live blocks, by entry. The caller frees them. */
static inline struct ml_following_class *classes_now(struct fed *fed)
{
    size_t count = fed->replay.blocks.len;
    struct ml_following_class *ret = calloc(count ? count : 1, sizeof(*ret));

    assert_non_null(ret);
    assert_int_equal(ml_following_classes_now(fed->classes, ret, count), 0);
    return ret;
}

/* Blocks that one of them has only as a part of a group have neither category nor label. */
static inline void assert_classes_equal(struct fed *whole, struct fed *fed)
{
    struct ml_following_class *x = classes_now(whole), *y = classes_now(fed), none = {0};

    for (size_t i = 0; i < whole->replay.blocks.len; i++) {
        const struct ml_block *block = &whole->replay.blocks.items[i], *same;
        const struct ml_following_class *other;

        if (!block->live)
            continue;
        same = ml_replay_find(&fed->replay, whole->replay.spaces.items[block->space].number,
                              block->addr);
        other = same ? &y[same - fed->replay.blocks.items] : &none;
        if (other->category != x[i].category || other->label != x[i].label)
            fail_msg("after %zu events the block at %zx of scope %u has category %u, not %u",
                     (size_t)whole->replay.events, (size_t)block->addr, block->scope,
                     other->category, x[i].category);
    }
    free(x);
    free(y);
}

/* What the net maker knows of the trace. */
static inline struct ml_net_definitions definitions_of(const struct ml_trace *trace)
{
    struct ml_net_definitions d = {0};

    for (uint32_t i = 0; i < ml_trace_scopes(trace); i++)
        assert_int_equal(ml_vec_push(&d.parents, ml_trace_scope(trace, i)->parent), 0);
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *space = ml_trace_space(trace, i);
        const char *name = ml_trace_string(trace, space->name, NULL);

        assert_int_equal(ml_vec_push(&d.plain, space->level != MEMLEDGER_BLOCK ||
                                                   strcmp(name, ML_HEAP_SPACE_NAME) == 0 ||
                                                   strcmp(name, ML_MAP_SPACE_NAME) == 0),
                         0);
    }
    return d;
}

/* Compares the two after each of the blocks, which have random lengths. */
static inline struct fed compare(struct ml_trace *trace, uint64_t seed, size_t longest)
{
    struct random_numbers random = {seed};
    struct ml_encoder *encoder = calloc(1, sizeof(*encoder));
    struct ml_net_definitions definitions = definitions_of(trace);
    struct ml_net_maker *maker = ml_net_maker_new(&definitions);
    ML_VEC(struct ml_event) events = {0};
    const struct ml_event *batch;
    struct ml_cursor *cursor;
    struct ml_error err = {0};
    struct fed whole, fed;
    size_t length;
    int n;

    fed_begin(&whole, trace);
    fed_begin(&fed, trace);
    assert_int_equal(ml_cursor_open(trace, 0, UINT64_MAX, &cursor, &err), 0);
    while ((n = ml_cursor_next(cursor, &batch, &err)) > 0)
        for (int i = 0; i < n; i++)
            assert_int_equal(ml_vec_push(&events, batch[i]), 0);
    ml_cursor_free(cursor);
    for (size_t done = 0; done < events.len; done += length) {
        length = 1 + random_below(&random, longest);
        length = ml_min_u64(length, events.len - done);
        feed_events(&whole, events.items + done, length);
        feed_block(&fed, encoder, maker, events.items + done, length,
                   random_below(&random, 10) == 0);
        assert_counts_equal(&whole.replay, &fed.replay);
        assert_int_equal(fed.replay.bytes.live_bytes, whole.replay.bytes.live_bytes);
        assert_int_equal(fed.replay.bytes.peak_bytes, whole.replay.bytes.peak_bytes);
        assert_int_equal(fed.replay.recent_peak.bytes, whole.replay.recent_peak.bytes);
        if (fed.classes)
            assert_classes_equal(&whole, &fed);
    }
    end_series(&fed, maker);
    if (fed.classes)
        assert_classes_equal(&whole, &fed);
    assert_equal(&whole.replay, &fed.replay);
    fed_release(&whole);
    fed_release(&fed);
    ml_net_definitions_release(&definitions);
    ml_vec_release(&events);
    ml_trace_free(trace);
    free(encoder);
    ml_net_maker_free(maker);
    return fed;
}

#endif
