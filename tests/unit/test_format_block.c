/* test_format_block.c: the frame of a trace: file header, block header, trailer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "block.h"

static void file_header_comes_back(void **state)
{
    const struct ml_file_header h = {.major = 1, .minor = 7, .start_wall_ns = UINT64_MAX - 3};
    uint8_t bytes[ML_FILE_HEADER_BYTES];
    struct ml_file_header got;

    (void)state;
    ml_file_header_put(bytes, &h);
    assert_int_equal(ml_file_header_get(bytes, &got), ML_FRAME_OK);
    assert_int_equal(got.minor, 7);
    assert_int_equal(got.start_wall_ns, h.start_wall_ns);
}

static void other_versions_are_told_apart(void **state)
{
    uint8_t bytes[ML_FILE_HEADER_BYTES];
    struct ml_file_header got;

    (void)state;
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 2});
    assert_int_equal(ml_file_header_get(bytes, &got), ML_FRAME_TOO_NEW);
    assert_int_equal(got.major, 2);
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 1, .features = 4});
    assert_int_equal(ml_file_header_get(bytes, &got), ML_FRAME_TOO_NEW);
    assert_int_equal(got.features, 4);
}

static void flips_in_the_file_header_are_seen(void **state)
{
    uint8_t bytes[ML_FILE_HEADER_BYTES];
    struct ml_file_header got;

    (void)state;
    ml_file_header_put(bytes, &(struct ml_file_header){.major = 1, .start_wall_ns = 12345});
    for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
        enum ml_frame_result want = bit < 64 ? ML_FRAME_NOT_OURS : ML_FRAME_DAMAGED;

        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(ml_file_header_get(bytes, &got), want);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static const struct ml_block_header some_header = {
    .type = ML_BLOCK_EVENTS,
    .codec = ML_CODEC_ZSTD,
    .stored_bytes = 5,
    .raw_bytes = 700,
    .first_ns = 1000,
    .last_ns = 1u << 31,
    .events = 65536,
    .sequence = 42,
};

static void block_header_comes_back(void **state)
{
    uint8_t bytes[ML_BLOCK_HEADER_BYTES];
    struct ml_block_header got;

    (void)state;
    memset(&got, 0, sizeof(got));
    ml_block_header_put(bytes, &some_header, "hello");
    assert_int_equal(ml_block_header_get(bytes, &got), ML_FRAME_OK);
    assert_true(ml_block_verify(bytes, "hello", 5));
    assert_int_equal(got.type, some_header.type);
    assert_int_equal(got.codec, some_header.codec);
    assert_int_equal(got.stored_bytes, some_header.stored_bytes);
    assert_int_equal(got.raw_bytes, some_header.raw_bytes);
    assert_int_equal(got.first_ns, some_header.first_ns);
    assert_int_equal(got.last_ns, some_header.last_ns);
    assert_int_equal(got.events, some_header.events);
    assert_int_equal(got.sequence, some_header.sequence);
}

static void flips_in_a_block_are_seen(void **state)
{
    static const uint8_t stored[5] = {1, 2, 3, 4, 5};
    uint8_t bytes[ML_BLOCK_HEADER_BYTES + sizeof(stored)];
    struct ml_block_header got;

    (void)state;
    memcpy(bytes + ML_BLOCK_HEADER_BYTES, stored, sizeof(stored));
    ml_block_header_put(bytes, &some_header, stored);
    for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_true(ml_block_header_get(bytes, &got) != ML_FRAME_OK ||
                    !ml_block_verify(bytes, bytes + ML_BLOCK_HEADER_BYTES, 5));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void expect_refused(struct ml_block_header h)
{
    uint8_t bytes[ML_BLOCK_HEADER_BYTES];
    struct ml_block_header got;
    uint32_t stored_bytes = h.stored_bytes;

    h.stored_bytes = 0; /* the sum is not looked at */
    ml_block_header_put(bytes, &h, "");
    for (int i = 0; i < 4; i++)
        bytes[8 + i] = (uint8_t)(stored_bytes >> 8 * i);
    assert_int_equal(ml_block_header_get(bytes, &got), ML_FRAME_DAMAGED);
}

static void block_limits_hold(void **state)
{
    struct ml_block_header h;

    (void)state;
    h = some_header, h.stored_bytes = ML_BLOCK_MAX_BYTES + 1;
    expect_refused(h);
    h = some_header, h.raw_bytes = ML_BLOCK_MAX_BYTES + 1;
    expect_refused(h);
    h = some_header, h.first_ns = h.last_ns + 1;
    expect_refused(h);
    h = some_header, h.last_ns = UINT64_C(1) << 63;
    expect_refused(h);
    h = some_header, h.codec = 2;
    expect_refused(h);
    h = some_header, h.events = ML_BLOCK_MAX_EVENTS + 1;
    expect_refused(h);
}

static void trailer_comes_back(void **state)
{
    const struct ml_trailer t = {.index_offset = 1u << 30, .file_bytes = UINT64_MAX / 3};
    uint8_t bytes[ML_TRAILER_BYTES];
    struct ml_trailer got;

    (void)state;
    ml_trailer_put(bytes, &t);
    assert_int_equal(ml_trailer_get(bytes, &got), ML_FRAME_OK);
    assert_int_equal(got.index_offset, t.index_offset);
    assert_int_equal(got.file_bytes, t.file_bytes);
    for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(ml_trailer_get(bytes, &got), ML_FRAME_OK);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_header_comes_back),
        cmocka_unit_test(other_versions_are_told_apart),
        cmocka_unit_test(flips_in_the_file_header_are_seen),
        cmocka_unit_test(block_header_comes_back),
        cmocka_unit_test(flips_in_a_block_are_seen),
        cmocka_unit_test(block_limits_hold),
        cmocka_unit_test(trailer_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
