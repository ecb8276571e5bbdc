/* test_base_varint.c: the number coding of base/varint.h, good bytes and bad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "varint.h"

static void check_round_trip(uint64_t v)
{
    uint8_t bytes[ML_VARINT_MAX + 1];
    uint8_t *end;
    uint64_t read;

    memset(bytes, 0xee, sizeof(bytes));
    end = ml_varint_put(bytes, v);
    assert_true(end > bytes && end <= bytes + ML_VARINT_MAX);
    assert_int_equal(*end, 0xee);
    assert_int_equal((size_t)(end - bytes), ml_varint_len(v));
    read = ~v;
    assert_ptr_equal(ml_varint_get(bytes, end, &read), end);
    assert_true(read == v);
    assert_ptr_equal(ml_varint_get(bytes, bytes + sizeof(bytes), &read), end);
    /* Every shorter prefix is truncated, and leaves the result alone. */
    read = 77;
    for (uint8_t *cut = bytes; cut < end; cut++)
        assert_null(ml_varint_get(bytes, cut, &read));
    assert_int_equal(read, 77);
}

static void numbers_round_trip(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 70000; v++)
        check_round_trip(v);
    for (unsigned bit = 0; bit < 64; bit++) {
        check_round_trip(UINT64_C(1) << bit);
        check_round_trip((UINT64_C(1) << bit) - 1);
        check_round_trip((UINT64_C(1) << bit) + 1);
        check_round_trip(UINT64_MAX << bit);
    }
}

static void encoding_is_leb128(void **state)
{
    uint8_t bytes[ML_VARINT_MAX];

    (void)state;
    assert_int_equal(ml_varint_put(bytes, 624485) - bytes, 3);
    assert_memory_equal(bytes, "\xe5\x8e\x26", 3);
    assert_int_equal(ml_varint_put(bytes, UINT64_MAX) - bytes, 10);
    assert_memory_equal(bytes, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}

static const uint8_t *get(const char *bytes, size_t len, uint64_t *ret)
{
    const uint8_t *p = (const uint8_t *)bytes;

    return ml_varint_get(p, p + len, ret);
}

static void bad_bytes_are_refused(void **state)
{
    uint64_t v = 5;

    (void)state;
    assert_null(get("", 0, &v));
    assert_null(ml_varint_get(NULL, NULL, &v));
    assert_null(get("\x80", 1, &v));
    /* The tenth byte holds one bit. */
    assert_null(get("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &v));
    assert_null(get("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, &v));
    /* Eleven bytes, even if they only pad. */
    assert_null(get("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, &v));
    assert_null(get("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x81\x00", 11, &v));
    assert_int_equal(v, 5);
}

static void padding_within_ten_bytes_is_read(void **state)
{
    uint64_t v = 5;

    (void)state;
    assert_non_null(get("\x80\x00", 2, &v));
    assert_int_equal(v, 0);
    assert_non_null(get("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, &v));
    assert_int_equal(v, 1);
}

static void zigzag_maps_small_to_small(void **state)
{
    static const int64_t values[] = {0, 1, -1, 2, -2, 1000, -1000, INT64_MAX, INT64_MIN};

    (void)state;
    assert_int_equal(ml_zigzag(0), 0);
    assert_int_equal(ml_zigzag(-1), 1);
    assert_int_equal(ml_zigzag(1), 2);
    assert_int_equal(ml_zigzag(-2), 3);
    assert_true(ml_zigzag(INT64_MAX) == UINT64_MAX - 1);
    assert_true(ml_zigzag(INT64_MIN) == UINT64_MAX);
    for (size_t i = 0; i < ML_ARRAY_SIZE(values); i++)
        assert_true(ml_unzigzag(ml_zigzag(values[i])) == values[i]);
}

static void fixed_numbers_are_little_endian(void **state)
{
    uint8_t bytes[16] = {0};

    (void)state;
    ml_store_u16(bytes + 1, 0x1122);
    assert_memory_equal(bytes, "\x00\x22\x11\x00", 4);
    assert_int_equal(ml_load_u16(bytes + 1), 0x1122);
    ml_store_u32(bytes + 3, 0x11223344);
    assert_memory_equal(bytes + 3, "\x44\x33\x22\x11\x00", 5);
    assert_int_equal(ml_load_u32(bytes + 3), 0x11223344);
    ml_store_u64(bytes + 5, UINT64_C(0x1122334455667788));
    assert_memory_equal(bytes + 5, "\x88\x77\x66\x55\x44\x33\x22\x11\x00", 9);
    assert_true(ml_load_u64(bytes + 5) == UINT64_C(0x1122334455667788));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_trip),
        cmocka_unit_test(encoding_is_leb128),
        cmocka_unit_test(bad_bytes_are_refused),
        cmocka_unit_test(padding_within_ten_bytes_is_read),
        cmocka_unit_test(zigzag_maps_small_to_small),
        cmocka_unit_test(fixed_numbers_are_little_endian),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
