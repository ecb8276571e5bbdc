/* test_net_publisher.c: whose wishes the nets on a collector's board fulfil.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "net_publisher.h"
#include "net_read.h"

#define EVENTS 100

struct board {
    struct ml_net_publisher publisher;
    struct ml_encoder *encoder;
    uint64_t blocks;
};

static void begin(struct board *b)
{
    *b = (struct board){.encoder = calloc(1, sizeof(*b->encoder))};
    assert_non_null(b->encoder);
    assert_int_equal(ml_net_publisher_init(&b->publisher), 0);
    assert_int_equal(ml_vec_push(&b->publisher.definitions.plain, false), 0);
}

static void end(struct board *b)
{
    ml_net_publisher_release(&b->publisher);
    free(b->encoder);
}

static void find_board(struct ml_net_reader *r, const struct board *b)
{
    ml_net_reader_init(r);
    r->fd = dup(b->publisher.fd);
    assert_true(r->fd >= 0);
}

/* @return the block's net, as a follower reads it */
static struct ml_net publish(struct board *b, struct ml_net_reader *r)
{
    static uint8_t out[ML_EVENTS_RAW_MAX];
    struct ml_net_key key = {.offset = ++b->blocks, .events = EVENTS};
    struct ml_index_entry block = {.offset = key.offset, .events = EVENTS};
    struct ml_block_header header;
    struct ml_net net;

    ml_encoder_init(b->encoder);
    for (uint64_t i = 0; i < EVENTS; i++)
        ml_encoder_add(b->encoder, &(struct ml_event){.kind = i % 2 ? ML_FREE : ML_ALLOC,
                                                      .addr = 4096,
                                                      .size = 64,
                                                      .time_ns = b->blocks * EVENTS + i});
    ml_encoder_write(b->encoder, out, &header);
    ml_net_publish(&b->publisher, b->encoder, &key, true);
    r->looked = false;
    assert_true(ml_net_read(r, &block, &net));
    return net;
}

/* @return whether a new series, for which the last of them asks, has classes */
static bool new_series_has_classes(bool first, bool second)
{
    const bool wants[] = {first, second};
    struct ml_net_reader followers[2];
    struct board b;
    struct ml_net net;

    begin(&b);
    for (int i = 0; i < 2; i++) {
        find_board(&followers[i], &b);
        ml_net_reader_poll(&followers[i], NULL, wants[i]);
        ml_net_reader_ask(&followers[i]);
    }
    net = publish(&b, &followers[0]);
    for (int i = 0; i < 2; i++)
        ml_net_reader_release(&followers[i]);
    end(&b);
    assert_int_equal(net.head.kind, ML_NET_GOES_ON);
    return net.head.classes != ML_NET_NO_CLASSES;
}

static void one_wish_for_classes_suffices(void **state)
{
    (void)state;
    assert_false(new_series_has_classes(false, false));
    assert_true(new_series_has_classes(true, false));
    assert_true(new_series_has_classes(false, true));
    assert_true(new_series_has_classes(true, true));
}

/* A follower that wants them finds a series without: it asks, and the next one has them, also if
 * the other asks for it. */
static void the_next_series_has_classes(void **state)
{
    struct ml_net_reader plain, wishing;
    struct board b;

    (void)state;
    begin(&b);
    find_board(&plain, &b);
    find_board(&wishing, &b);
    ml_net_reader_poll(&plain, NULL, false);
    ml_net_reader_ask(&plain);
    assert_int_equal(publish(&b, &plain).head.classes, ML_NET_NO_CLASSES);
    ml_net_reader_poll(&wishing, NULL, true);
    ml_net_reader_ask(&wishing);
    ml_net_reader_poll(&plain, NULL, false);
    assert_int_equal(publish(&b, &plain).head.kind, ML_NET_ENDS);
    ml_net_reader_ask(&plain);
    assert_int_equal(publish(&b, &wishing).head.classes, ML_NET_PAIRS);
    assert_int_equal(publish(&b, &plain).head.kind, ML_NET_GOES_ON);
    ml_net_reader_release(&plain);
    ml_net_reader_release(&wishing);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wish_for_classes_suffices),
        cmocka_unit_test(the_next_series_has_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
