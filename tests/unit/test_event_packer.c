/* test_event_packer.c: events blocks as several zstd frames.
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

#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_createCCtx_advanced */
#include <zstd.h>

#include "encode.h"
#include "event_packer.h"

struct fixture {
    struct ml_encoder *encoder;
    struct ml_event_packer packer;
    uint8_t *raw, *out, *back;
    uint64_t random;
    bool may_search;
    uint32_t batch;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->encoder = calloc(1, sizeof(*f->encoder));
    f->raw = malloc(ML_EVENTS_RAW_MAX);
    f->back = malloc(ML_EVENTS_RAW_MAX);
    f->out = malloc(ml_event_packer_room(ML_EVENTS_RAW_MAX));
    assert_non_null(f->encoder);
    ml_encoder_init(f->encoder);
    assert_int_equal(ml_event_packer_init(&f->packer), 0);
    f->random = 1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    ml_event_packer_release(&f->packer);
    free(f->encoder);
    free(f->raw);
    free(f->back);
    free(f->out);
    free(f);
    return 0;
}

static uint32_t any(struct fixture *f)
{
    f->random = f->random * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(f->random >> 40);
}

/* Packs a block of events, unpacks it as readers do, and returns its size; in *ret_whole that of
 * the block as one frame. */
static size_t pack(struct fixture *f, uint32_t events, uint32_t sizes, size_t *ret_whole)
{
    struct ml_block_header header = {0};
    size_t raw_bytes, n;

    for (uint32_t i = 0; i < events; i++) {
        struct ml_event ev = {.kind = sizes && any(f) % 2 ? ML_FREE : ML_ALLOC,
                              .time_ns = i * UINT64_C(100),
                              .addr = 4096 * (uint64_t)(sizes ? any(f) % 1000 : i),
                              .size = sizes ? any(f) % sizes : i % 7 * 100,
                              .stack = 1 + i % 3};
        ml_encoder_add(f->encoder, &ev);
    }
    raw_bytes = ml_encoder_finish(f->encoder, f->raw, &header);
    n = ml_event_packer_pack(&f->packer, f->may_search, f->raw, raw_bytes, f->out);
    assert_true(n > 0 && n <= ml_event_packer_room(raw_bytes));
    assert_int_equal(ZSTD_decompress(f->back, ML_EVENTS_RAW_MAX, f->out, n), raw_bytes);
    assert_memory_equal(f->back, f->raw, raw_bytes);
    *ret_whole = ZSTD_compress(f->out, ml_event_packer_room(raw_bytes), f->raw, raw_bytes, 1);
    return n;
}

static void blocks_come_back(void **state)
{
    static const uint32_t counts[] = {1, 100, 4095, 4096, 5000, ML_BLOCK_MAX_EVENTS};
    size_t whole;

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        for (uint32_t sizes = 0; sizes < 2000; sizes += 999)
            pack(*state, counts[i], sizes, &whole);
}

static void random_planes_are_smaller(void **state)
{
    size_t whole;

    for (int i = 0; i < 3; i++)
        assert_true(pack(*state, ML_BLOCK_MAX_EVENTS, 1024, &whole) < whole * 95 / 100);
}

/* The choice is made anew now and then. */
static void repeating_planes_are_not_larger(void **state)
{
    size_t whole, n = 0;

    pack(*state, ML_BLOCK_MAX_EVENTS, 1024, &whole);
    for (int i = 0; i < 8; i++)
        n = pack(*state, ML_BLOCK_MAX_EVENTS, 0, &whole);
    assert_true(n <= whole + 200);
}

static bool searches(const struct fixture *f)
{
    return memchr(f->packer.ways, ML_PACK_SEARCHES, sizeof(f->packer.ways));
}

/* Four sizes at a time that have been there before: too short for the matches of level 1. */
static uint32_t batched(struct fixture *f, uint32_t i)
{
    if (i % 4 == 0)
        f->batch = any(f) % 256;
    return 1 + ((f->batch * 4 + i % 4) * UINT32_C(2654435761) >> 16) % 250;
}

/* Only where it saves bytes, and only if there is time. */
static void some_planes_are_searched(void **state)
{
    struct fixture *f = *state;
    size_t least[2];

    for (int may = 0; may < 2; may++) {
        struct ml_block_header header = {0};
        size_t raw_bytes;

        f->random = 1;
        f->packer.blocks = 0;
        for (uint32_t i = 0; i < ML_BLOCK_MAX_EVENTS; i++)
            ml_encoder_add(f->encoder, &(struct ml_event){.kind = ML_ALLOC,
                                                          .addr = 4096 * (uint64_t)i,
                                                          .size = batched(f, i),
                                                          .stack = 1});
        raw_bytes = ml_encoder_finish(f->encoder, f->raw, &header);
        least[may] = ml_event_packer_pack(&f->packer, may, f->raw, raw_bytes, f->out);
        assert_int_equal(searches(f), may);
        assert_int_equal(ZSTD_decompress(f->back, ML_EVENTS_RAW_MAX, f->out, least[may]),
                         raw_bytes);
        assert_memory_equal(f->back, f->raw, raw_bytes);
    }
    assert_true(least[1] < least[0]);
}

static void *allocate_once(void *left, size_t bytes)
{
    return (*(int *)left)-- > 0 ? malloc(bytes) : NULL;
}

static void free_it(void *left, void *p)
{
    (void)left;
    free(p);
}

/* A way that has no memory is not taken. */
static void ways_without_memory(void **state)
{
    struct fixture *f = *state;
    size_t whole;

    f->may_search = true;
    for (int way = 0; way < ML_PACKER_WAYS; way++) {
        int left = 1;
        struct ZSTD_CCtx_s *good = f->packer.zstd[way];

        if (way == ML_PACK_MATCHES)
            continue;
        f->packer.zstd[way] =
            ZSTD_createCCtx_advanced((ZSTD_customMem){allocate_once, free_it, &left});
        assert_non_null(f->packer.zstd[way]);
        f->packer.blocks = 0;
        pack(f, 100, 1024, &whole);
        pack(f, ML_BLOCK_MAX_EVENTS, 1024, &whole);
        memset(f->packer.ways, way, sizeof(f->packer.ways));
        pack(f, ML_BLOCK_MAX_EVENTS, 1024, &whole);
        ZSTD_freeCCtx(f->packer.zstd[way]);
        f->packer.zstd[way] = good;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(random_planes_are_smaller, setup, teardown),
        cmocka_unit_test_setup_teardown(repeating_planes_are_not_larger, setup, teardown),
        cmocka_unit_test_setup_teardown(some_planes_are_searched, setup, teardown),
        cmocka_unit_test_setup_teardown(ways_without_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
