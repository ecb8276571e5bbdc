/* test_format_events.c: events through the columns of a block and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "encode.h"

static uint64_t seed = 88172645463325252u;

static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Values of all magnitudes, the borders of the narrow columns among them. */
static uint64_t any_value(void)
{
    switch (any() % 8) {
    case 0: return ML_WIDE_MARK - 1 + any() % 3;
    case 1: return UINT64_MAX - any() % 3;
    case 2: return 0;
    default: return any() >> any() % 64;
    }
}

static struct ml_event any_event(uint64_t time_ns, uint32_t spaces)
{
    struct ml_event ev = {
        .time_ns = time_ns,
        .thread = any() % 4 ? 1 : (uint32_t)any(),
        .space = (uint32_t)(any() % spaces),
        .scope = any() % 3 ? 7 : (uint32_t)any(),
        .kind = (uint8_t)(1 + any() % (ML_KIND_COUNT - 1)),
    };
    const struct ml_shape *shape = &ml_shapes[ev.kind];

    if (shape->bits & ML_HAS_ADDR)
        ev.addr = any_value();
    if (shape->bits & ML_HAS_SIZE)
        ev.size = any_value();
    if (shape->bits & ML_HAS_STACK)
        ev.stack = (uint32_t)any();
    for (int i = 0; i < shape->args; i++)
        ev.args[i] = any_value();
    return ev;
}

struct fixture {
    struct ml_encoder encoder;
    struct ml_decoder decoder;
    struct ml_address_model model;
    struct ml_block_header header;
    uint8_t raw[ML_EVENTS_RAW_MAX];
    struct ml_event events[ML_BLOCK_MAX_EVENTS];
};

static int make_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f)
        return -1;
    ml_encoder_init(&f->encoder);
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    free(*state);
    return 0;
}

static void assert_same(const struct ml_event *got, const struct ml_event *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->time_ns, want->time_ns);
    assert_int_equal(got->addr, want->addr);
    assert_int_equal(got->size, want->size);
    assert_int_equal(got->thread, want->thread);
    assert_int_equal(got->space, want->space);
    assert_int_equal(got->scope, want->scope);
    assert_int_equal(got->stack, want->stack);
    assert_memory_equal(got->args, want->args, sizeof(got->args));
}

static void encode(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ml_encoder_add(&f->encoder, &f->events[i]);
    f->header = (struct ml_block_header){.type = ML_BLOCK_EVENTS};
    f->header.raw_bytes = (uint32_t)ml_encoder_finish(&f->encoder, f->raw, &f->header);
}

/* Decode in batches of `room` and compare with what was encoded. */
static void assert_decodes(struct fixture *f, uint32_t count, int room)
{
    struct ml_event *batch = calloc((size_t)room, sizeof(*batch));
    uint32_t seen = 0;
    int n;

    assert_non_null(batch);
    memset(batch, 0xaa, (size_t)room * sizeof(*batch));
    assert_int_equal(ml_decoder_init(&f->decoder, &f->header, f->raw, &f->model), 0);
    while ((n = ml_decoder_next(&f->decoder, batch, room)) > 0) {
        for (int i = 0; i < n; i++)
            assert_same(&batch[i], &f->events[seen++]);
    }
    assert_int_equal(n, 0);
    assert_int_equal(seen, count);
    free(batch);
}

static void random_events_come_back(void **state)
{
    static const int rooms[] = {1, 7, 256, 257, 1000};
    struct fixture *f = *state;

    for (int round = 0; round < 200; round++) {
        uint32_t count = 1 + (uint32_t)(any() % 900), spaces = round % 3 ? 5 : 5000;
        uint64_t time_ns = any() >> 20;

        for (uint32_t i = 0; i < count; i++) {
            time_ns += any() % 50 ? any() % 300 : any() >> 24;
            f->events[i] = any_event(time_ns, spaces);
        }
        encode(f, count);
        assert_int_equal(f->header.events, count);
        assert_int_equal(f->header.first_ns, f->events[0].time_ns);
        assert_int_equal(f->header.last_ns, time_ns);
        assert_decodes(f, count, rooms[round % 5]);
    }
}

/* An allocator that reuses what was freed, cuts large free blocks up and resizes in place, in three
 * threads, and frees of blocks from before the block of events. */
static struct ml_event next_of_malloc(uint64_t live[64], uint64_t *top, uint64_t time_ns)
{
    uint64_t slot = any() % 64, size = any() % 3 ? 24 : any() % 5000;
    struct ml_event ev = {.time_ns = time_ns, .thread = (uint32_t)(any() % 3), .space = 1};
    static uint64_t freed[16];

    if (live[slot]) {
        ev.kind = any() % 8 ? ML_FREE : any() % 2 ? ML_MOVE : ML_LABEL;
        ev.addr = any() % 16 ? live[slot] : 0x10000 + any() % 4096 * 16;
        freed[any() % 16] = ev.addr;
        live[slot] = ev.kind == ML_LABEL ? live[slot] : 0;
        return ev;
    }
    ev.kind = ML_ALLOC;
    ev.size = size;
    ev.stack = (uint32_t)(any() % 5);
    ev.addr = any() % 2 ? freed[any() % 16] : *top;
    if (ev.addr == *top)
        *top += (size + 23) / 16 * 16;
    live[slot] = ev.addr;
    return ev;
}

static void traffic_of_malloc_comes_back(void **state)
{
    struct fixture *f = *state;

    for (int round = 0; round < 30; round++) {
        uint32_t count = round ? 1 + (uint32_t)(any() % 5000) : ML_BLOCK_MAX_EVENTS;
        uint64_t live[64] = {0x8000, 0x8010, 0x8020}, top = 0x7f0000000000, time_ns = 1000;

        for (uint32_t i = 0; i < count; i++)
            f->events[i] = next_of_malloc(live, &top, time_ns += any() % 100);
        encode(f, count);
        assert_decodes(f, count, 256);
    }
}

/* The sizes from which on the finder does not keep a block's room. */
static void huge_blocks_are_found_in_their_bins(void **state)
{
    static const uint64_t sizes[] = {(UINT64_C(1) << 36) - 24, (UINT64_C(1) << 36) - 23,
                                     UINT64_C(1) << 40};
    struct fixture *f = *state;
    uint32_t count = 0;

    for (int i = 0; i < 9; i++) {
        uint64_t size = sizes[i % 3], addr = UINT64_C(0x100000000000) + (uint64_t)(i % 2) * size;

        f->events[count++] = (struct ml_event){.kind = ML_ALLOC, .addr = addr, .size = size};
        f->events[count++] = (struct ml_event){.kind = ML_FREE, .addr = addr};
        f->events[count++] = (struct ml_event){.kind = ML_ALLOC, .addr = addr, .size = size};
        f->events[count++] = (struct ml_event){.kind = ML_MOVE, .addr = addr};
    }
    encode(f, count);
    assert_decodes(f, count, 256);
}

static void times_are_rounded_down(void **state)
{
    struct fixture *f = *state;
    const uint32_t count = 3000;

    f->encoder.time_shift = 10;
    for (uint32_t i = 0; i < count; i++)
        f->events[i] =
            (struct ml_event){.kind = ML_PUSH, .time_ns = 5000 + i * (any() % 7 ? 3 : 9)};
    for (uint32_t i = 1; i < count; i++)
        f->events[i].time_ns = ml_max_u64(f->events[i].time_ns, f->events[i - 1].time_ns);
    f->events[count - 1].time_ns = UINT64_C(1) << 62;
    encode(f, count);
    for (uint32_t i = 0; i < count; i++)
        f->events[i].time_ns &= ~UINT64_C(1023);
    assert_int_equal(f->header.first_ns, 4096);
    assert_int_equal(f->header.last_ns, UINT64_C(1) << 62);
    assert_decodes(f, count, 256);
}

/* As many events as a block holds, each as large as they get. */
static void full_block_of_wide_values_fits(void **state)
{
    struct fixture *f = *state;
    uint32_t count = 0;

    while (!ml_encoder_full(&f->encoder)) {
        struct ml_event ev = {
            .time_ns = (uint64_t)count << 33,
            .addr = count % 2 ? UINT64_MAX : 1,
            .size = UINT64_MAX - count,
            .thread = count,
            .space = UINT32_MAX - count,
            .scope = count + 1,
            .stack = UINT32_MAX,
            .kind = ML_ALLOC_EX,
            .args = {UINT32_MAX, count},
        };
        f->events[count++] = ev;
        ml_encoder_add(&f->encoder, &ev);
    }
    f->header = (struct ml_block_header){.type = ML_BLOCK_EVENTS};
    f->header.raw_bytes = (uint32_t)ml_encoder_finish(&f->encoder, f->raw, &f->header);
    assert_int_equal(count, ML_BLOCK_MAX_EVENTS);
    assert_true(f->header.raw_bytes <= ML_EVENTS_RAW_MAX);
    assert_decodes(f, count, 256);
}

static void block_is_full_before_args_overflow(void **state)
{
    struct fixture *f = *state;
    struct ml_event ev = {.kind = ML_SAMPLE};
    uint32_t count = 0;

    memset(ev.args, 0xff, sizeof(ev.args));
    while (!ml_encoder_full(&f->encoder)) {
        f->events[count++] = ev;
        ml_encoder_add(&f->encoder, &ev);
    }
    assert_true(count < ML_BLOCK_MAX_EVENTS);
    f->header = (struct ml_block_header){.type = ML_BLOCK_EVENTS};
    f->header.raw_bytes = (uint32_t)ml_encoder_finish(&f->encoder, f->raw, &f->header);
    assert_decodes(f, count, 256);
}

static void empty_encoder_gives_no_block(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(ml_encoder_finish(&f->encoder, f->raw, &f->header), 0);
}

static void earlier_time_is_raised(void **state)
{
    struct fixture *f = *state;

    f->events[0] = (struct ml_event){.kind = ML_PUSH, .time_ns = 500};
    f->events[1] = (struct ml_event){.kind = ML_POP, .time_ns = 400};
    f->events[2] = (struct ml_event){.kind = ML_PUSH, .time_ns = 510};
    encode(f, 3);
    f->events[1].time_ns = 500;
    assert_decodes(f, 3, 2);
}

/* Any damage to the raw bytes: decoding ends, in time order and within the
 * header's times. That it stays inside the bytes is for the sanitizer to see. */
static void damaged_columns_do_no_harm(void **state)
{
    struct fixture *f = *state;
    const uint32_t count = 40;
    uint8_t *copy;

    for (uint32_t i = 0; i < count; i++)
        f->events[i] = any_event(1000 + i * 10, 3);
    encode(f, count);
    copy = malloc(f->header.raw_bytes);
    assert_non_null(copy);
    for (uint32_t bit = 0; bit < f->header.raw_bytes * 8; bit++) {
        uint64_t last_ns = f->header.first_ns;
        struct ml_event batch[16];
        int n = 0;

        memcpy(copy, f->raw, f->header.raw_bytes);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (ml_decoder_init(&f->decoder, &f->header, copy, &f->model))
            continue;
        while ((n = ml_decoder_next(&f->decoder, batch, 16)) > 0) {
            for (int i = 0; i < n; i++) {
                assert_true(batch[i].time_ns >= last_ns);
                last_ns = batch[i].time_ns;
            }
        }
        assert_true(last_ns <= f->header.last_ns);
    }
    free(copy);
}

static void contradictions_are_refused(void **state)
{
    struct fixture *f = *state;
    struct ml_block_header wrong;

    f->events[0] = (struct ml_event){.kind = ML_ALLOC, .time_ns = 5, .addr = 64, .size = 8};
    f->events[1] = (struct ml_event){.kind = ML_FREE, .time_ns = 9, .addr = 64};
    encode(f, 2);

    wrong = f->header;
    wrong.raw_bytes--;
    assert_int_equal(ml_decoder_init(&f->decoder, &wrong, f->raw, &f->model), -1);
    wrong = f->header;
    wrong.raw_bytes = ML_COLUMN_HEADER_BYTES - 1;
    assert_int_equal(ml_decoder_init(&f->decoder, &wrong, f->raw, &f->model), -1);
    wrong = f->header;
    wrong.events = 3;
    assert_int_equal(ml_decoder_init(&f->decoder, &wrong, f->raw, &f->model), -1);
    wrong = f->header;
    wrong.last_ns = 8;
    assert_int_equal(ml_decoder_init(&f->decoder, &wrong, f->raw, &f->model), 0);
    assert_int_equal(ml_decoder_next(&f->decoder, f->events, 2), -1);
    wrong.last_ns = 10;
    assert_int_equal(ml_decoder_init(&f->decoder, &wrong, f->raw, &f->model), 0);
    assert_int_equal(ml_decoder_next(&f->decoder, f->events, 2), -1);
}

/* Adds a run of `n` plain events of one context, as a collector does. */
static void add_run(struct ml_encoder *e, const struct ml_event *evs, int n)
{
    struct ml_encoder_run run;

    ml_encoder_run_begin(&run, e, evs->thread, evs->space, evs->scope);
    for (int i = 0; i < n; i++) {
        assert_true(ml_encoder_run_fits(&run, evs[i].time_ns, evs[i].size));
        ml_encoder_run_put(&run, evs[i].kind, evs[i].time_ns, evs[i].addr, evs[i].kind == ML_ALLOC,
                           evs[i].size, evs[i].stack);
    }
    ml_encoder_run_end(&run);
}

static void runs_give_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    struct ml_encoder *whole = calloc(1, sizeof(*whole));
    uint8_t *raw = malloc(ML_EVENTS_RAW_MAX);
    struct ml_event evs[8] = {{.kind = ML_FREE, .addr = 16}};
    struct ml_block_header header;
    uint64_t time_ns = 0;
    size_t bytes;

    assert_non_null(whole);
    assert_non_null(raw);
    ml_encoder_init(whole);
    ml_encoder_add(&f->encoder, evs);
    ml_encoder_add(whole, evs);
    for (int round = 0; round < 1000; round++) {
        int n = (int)(any() % 8); /* none at times */
        for (int i = 0; i < 8; i++) {
            bool is_alloc = any() % 2;
            time_ns += any() % 1000;
            evs[i] = (struct ml_event){.kind = is_alloc ? ML_ALLOC : ML_FREE,
                                       .time_ns = time_ns,
                                       .thread = (uint32_t)round % 3,
                                       .space = (uint32_t)round % 5,
                                       .scope = (uint32_t)round % 7,
                                       .addr = any() >> 16,
                                       .size = is_alloc ? any() % 5000 : 0,
                                       .stack = is_alloc ? (uint32_t)(any() % 3) : 0};
        }
        add_run(&f->encoder, evs, n);
        for (int i = 0; i < n; i++)
            ml_encoder_add(whole, &evs[i]);
    }
    bytes = ml_encoder_finish(whole, raw, &header);
    assert_int_equal(ml_encoder_finish(&f->encoder, f->raw, &f->header), bytes);
    assert_memory_equal(f->raw, raw, bytes);
    free(whole);
    free(raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_events_come_back, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(traffic_of_malloc_comes_back, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(huge_blocks_are_found_in_their_bins, make_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(times_are_rounded_down, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(full_block_of_wide_values_fits, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(block_is_full_before_args_overflow, make_fixture,
                                        free_fixture),
        cmocka_unit_test_setup_teardown(runs_give_the_same_bytes, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(empty_encoder_gives_no_block, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(earlier_time_is_raised, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(damaged_columns_do_no_harm, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(contradictions_are_refused, make_fixture, free_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
