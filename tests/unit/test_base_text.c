/* test_base_text.c: numbers as people write them (base/text.h) and UTF-8 (base/utf8.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "error.h"
#include "compiler.h"
#include "text.h"

#define KIB INT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

static void bytes_are_formatted(void **state)
{
    static const struct {
        int64_t bytes;
        enum ml_unit unit;
        const char *text;
    } cases[] = {
        {0, ML_UNIT_AUTO, "0 B"},
        {512, ML_UNIT_AUTO, "512 B"},
        {1023, ML_UNIT_AUTO, "1023 B"},
        {1024, ML_UNIT_AUTO, "1.0 KiB"},
        {1536, ML_UNIT_AUTO, "1.5 KiB"},
        {392 * MIB, ML_UNIT_AUTO, "392.0 MiB"},
        {4 * GIB, ML_UNIT_AUTO, "4.00 GiB"},
        {1600 * GIB, ML_UNIT_AUTO, "1.56 TiB"},
        /* What rounds to 1024 goes to the next unit. */
        {MIB - 1, ML_UNIT_AUTO, "1.0 MiB"},
        {MIB - 52, ML_UNIT_AUTO, "1023.9 KiB"},
        {GIB - 1, ML_UNIT_AUTO, "1.00 GiB"},
        {-1, ML_UNIT_AUTO, "-1 B"},
        {-MIB, ML_UNIT_AUTO, "-1.0 MiB"},
        {INT64_MAX, ML_UNIT_AUTO, "8.00 EiB"},
        {INT64_MIN, ML_UNIT_AUTO, "-8.00 EiB"},
        {MIB, ML_UNIT_B, "1048576 B"},
        {INT64_MIN, ML_UNIT_B, "-9223372036854775808 B"},
        {MIB, ML_UNIT_KIB, "1024.0 KiB"},
        {INT64_MIN, ML_UNIT_KIB, "-9007199254740992.0 KiB"},
        {100, ML_UNIT_KIB, "0.1 KiB"},
        {3 * GIB, ML_UNIT_MIB, "3072.0 MiB"},
        {512 * MIB, ML_UNIT_GIB, "0.50 GiB"},
        /* No "-0.0". */
        {-1, ML_UNIT_MIB, "0.0 MiB"},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++)
        assert_string_equal(ml_format_bytes(buf, cases[i].bytes, cases[i].unit), cases[i].text);
}

static void counts_are_formatted(void **state)
{
    char buf[32];

    (void)state;
    assert_string_equal(ml_format_count(buf, 0), "0");
    assert_string_equal(ml_format_count(buf, 999), "999");
    assert_string_equal(ml_format_count(buf, 1000), "1,000");
    assert_string_equal(ml_format_count(buf, 1234567), "1,234,567");
    assert_string_equal(ml_format_count(buf, -123), "-123");
    assert_string_equal(ml_format_count(buf, -123456), "-123,456");
    assert_string_equal(ml_format_count(buf, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void durations_are_formatted(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0 ns"},
        {780, "780 ns"},
        {999, "999 ns"},
        {1000, "1.0 us"},
        {12345, "12.3 us"},
        {999949, "999.9 us"},
        {999950, "1.0 ms"},
        {45600000, "45.6 ms"},
        {999950000, "1.00 s"},
        {1230000000, "1.23 s"},
        {INT64_C(59994999999), "59.99 s"},
        {INT64_C(59995000000), "1 min 00 s"},
        {INT64_C(125000000000), "2 min 05 s"},
        {INT64_C(3599400000000), "59 min 59 s"},
        {INT64_C(3599600000000), "1 h 00 min"},
        {INT64_C(11220000000000), "3 h 07 min"},
        {-45600000, "-45.6 ms"},
        {INT64_C(-125000000000), "-2 min 05 s"},
        {INT64_MAX, "2562047 h 47 min"},
        {INT64_MIN, "-2562047 h 47 min"},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++)
        assert_string_equal(ml_format_duration_ns(buf, cases[i].ns), cases[i].text);
}

static void units_are_parsed(void **state)
{
    static const char *const bad[] = {"", "KB", "mb", "GB", "k", "KiBs", "TiB", " B", "aut"};
    enum ml_unit unit = ML_UNIT_GIB;

    (void)state;
    assert_int_equal(ml_parse_unit("auto", &unit), 0);
    assert_int_equal(unit, ML_UNIT_AUTO);
    assert_int_equal(ml_parse_unit("b", &unit), 0);
    assert_int_equal(unit, ML_UNIT_B);
    assert_int_equal(ml_parse_unit("KIB", &unit), 0);
    assert_int_equal(unit, ML_UNIT_KIB);
    assert_int_equal(ml_parse_unit("MiB", &unit), 0);
    assert_int_equal(unit, ML_UNIT_MIB);
    assert_int_equal(ml_parse_unit("gib", &unit), 0);
    assert_int_equal(unit, ML_UNIT_GIB);
    for (size_t i = 0; i < ML_ARRAY_SIZE(bad); i++)
        assert_int_equal(ml_parse_unit(bad[i], &unit), -EINVAL);
    assert_int_equal(unit, ML_UNIT_GIB);
}

struct parse_case {
    const char *text;
    int result;
    uint64_t value;
};

static void check_parse(int (*parse)(const char *, uint64_t *), const struct parse_case *c)
{
    uint64_t value = 12345;

    assert_int_equal(parse(c->text, &value), c->result);
    assert_true(value == (c->result == 0 ? c->value : 12345));
}

static void bytes_are_parsed(void **state)
{
    static const struct parse_case cases[] = {
        {"16", 0, 16},
        {"0", 0, 0},
        {"16B", 0, 16},
        {"4K", 0, 4096},
        {"4kib", 0, 4096},
        {"1.5MiB", 0, 3 << 19},
        {"1.5 MiB", 0, 3 << 19},
        {".5k", 0, 512},
        {"2g", 0, UINT64_C(2) << 30},
        {"1T", 0, UINT64_C(1) << 40},
        {"1.3K", 0, 1331},
        {"1.0", 0, 1},
        {"0.33333333333333333333333333333K", 0, 341},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", -ERANGE, 0},
        {"99999999999999999999999999", -ERANGE, 0},
        {"16777216T", -ERANGE, 0},
        {"16777215.999T", 0, UINT64_C(18446744072610039988)},
        {"", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},
        {"1  K", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {"1.", -EINVAL, 0},
        {".", -EINVAL, 0},
        {".K", -EINVAL, 0},
        {"1.5", -EINVAL, 0},
        {"1,5K", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"0x10", -EINVAL, 0},
        {"4KB", 0, 4000},
        {"1.5 MB", 0, 1500000},
        {"3gb", 0, UINT64_C(3000000000)},
        {"4KBx", -EINVAL, 0},
        {"4Kx", -EINVAL, 0},
        {"K", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++)
        check_parse(ml_parse_bytes, &cases[i]);
}

static void durations_are_parsed(void **state)
{
    static const struct parse_case cases[] = {
        {"1.5s", 0, 1500000000},
        {"20ms", 0, 20000000},
        {"300us", 0, 300000},
        {"300\xc2\xb5s", 0, 300000},
        {"300\xce\xbcs", 0, 300000},
        {"12ns", 0, 12},
        {"3", 0, UINT64_C(3000000000)},
        {"0.001", 0, 1000000},
        {"2 min", 0, UINT64_C(120000000000)},
        {"2m", 0, UINT64_C(120000000000)},
        {"1h", 0, UINT64_C(3600000000000)},
        {"12.5ns", -EINVAL, 0},
        {"18446744073", 0, UINT64_C(18446744073000000000)},
        {"18446744074", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {"-1s", -EINVAL, 0},
        {"1d", -EINVAL, 0},
        {"1s ", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++)
        check_parse(ml_parse_duration_ns, &cases[i]);
}

static void utf8_is_decoded(void **state)
{
    uint32_t c = 0;

    (void)state;
    assert_int_equal(ml_utf8_decode("a", 1, &c), 1);
    assert_int_equal(c, 'a');
    assert_int_equal(ml_utf8_decode("\xc3\xa9", 2, &c), 2);
    assert_int_equal(c, 0xe9);
    assert_int_equal(ml_utf8_decode("\xe2\x82\xac", 3, &c), 3);
    assert_int_equal(c, 0x20ac);
    assert_int_equal(ml_utf8_decode("\xf0\x9f\x98\x80", 4, &c), 4);
    assert_int_equal(c, 0x1f600);
    assert_int_equal(ml_utf8_decode("\xf4\x8f\xbf\xbf", 4, &c), 4);
    assert_int_equal(c, 0x10ffff);
}

static void utf8_is_encoded(void **state)
{
    static const uint32_t characters[] = {0,      'a',    0x7f,   0x80,    0x7ff,   0x800,
                                          0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f600, 0x10ffff};
    static const uint32_t none[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX};
    char bytes[ML_UTF8_MAX_BYTES];
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(characters); i++) {
        size_t n = ml_utf8_encode(characters[i], bytes);
        assert_int_equal(ml_utf8_decode(bytes, n, &c), n);
        assert_int_equal(c, characters[i]);
    }
    for (size_t i = 0; i < ML_ARRAY_SIZE(none); i++) {
        assert_int_equal(ml_utf8_encode(none[i], bytes), strlen(ML_UTF8_REPLACEMENT));
        assert_memory_equal(bytes, ML_UTF8_REPLACEMENT, strlen(ML_UTF8_REPLACEMENT));
    }
}

static void broken_utf8_is_refused(void **state)
{
    static const char *const bad[] = {
        "\x80",             /* a continuation without a start */
        "\xc0\x80",         /* NUL in two bytes */
        "\xc1\xbf",         /* ASCII in two bytes */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xc3",     /* cut short */
        "\xe2\x82", /* cut short */
        "\xc3(",    /* a start without a continuation */
    };
    uint32_t c = 1;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(bad); i++)
        assert_int_equal(ml_utf8_decode(bad[i], strlen(bad[i]), &c), 0);
    assert_int_equal(c, 1);
}

static size_t clip(const char *s, size_t columns)
{
    return ml_clip_utf8(s, strlen(s), columns);
}

static void text_is_clipped_at_characters(void **state)
{
    (void)state;
    assert_int_equal(clip("", 5), 0);
    assert_int_equal(clip("abc", 0), 0);
    assert_int_equal(clip("abc", 2), 2);
    assert_int_equal(clip("abc", 9), 3);
    assert_int_equal(clip("\xc3\xa9\xc3\xa9", 1), 2);
    /* Two columns do not fit into one. */
    assert_int_equal(clip("\xe6\xbc\xa2\xe5\xad\x97", 3), 3);
    assert_int_equal(clip("\xe6\xbc\xa2\xe5\xad\x97", 4), 6);
    /* A combining mark stays with its letter. */
    assert_int_equal(clip("e\xcc\x81x", 1), 3);
    /* Invalid bytes take a column each. */
    assert_int_equal(clip("\xff\xff\xff", 2), 2);
    assert_int_equal(ml_utf8_width("\xe6\xbc\xa2"
                                   "e\xcc\x81\xff",
                                   7),
                     4);
}

/* What a terminal would obey is spelled out, whole or not at all. */
static void errors_are_printable(void **state)
{
    struct ml_error err = {0};
    char path[sizeof(err.text) * 2];

    (void)state;
    assert_int_equal(ml_error_set(&err, -5, "%s: no", "a\x1b[1m\n\x9b\xff\xc2\x9b\u202e\u00e9\\x"),
                     -5);
    assert_string_equal(err.text, "a\\x1b[1m\\x0a\\x9b\\xff\\xc2\\x9b\\xe2\\x80\\xae\u00e9\\x: no");
    ml_error_set(&err, -5, "%s", err.text); /* once is enough */
    assert_non_null(strstr(err.text, "a\\x1b[1m\\x0a"));
    memset(path, '\x1b', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ml_error_set(&err, -5, "%s", path);
    assert_int_equal(strlen(err.text), (sizeof(err.text) - 1) / 4 * 4);
    assert_string_equal(err.text + strlen(err.text) - 4, "\\x1b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_printable),
        cmocka_unit_test(bytes_are_formatted),
        cmocka_unit_test(counts_are_formatted),
        cmocka_unit_test(durations_are_formatted),
        cmocka_unit_test(units_are_parsed),
        cmocka_unit_test(bytes_are_parsed),
        cmocka_unit_test(durations_are_parsed),
        cmocka_unit_test(utf8_is_decoded),
        cmocka_unit_test(utf8_is_encoded),
        cmocka_unit_test(broken_utf8_is_refused),
        cmocka_unit_test(text_is_clipped_at_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
