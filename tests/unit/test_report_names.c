/* test_report_names.c: short names for runs, round numbers for axes, text made
 * harmless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "run_names.h"
#include "style.h"
#include "svg_scale.h"

static void names_are(const char *const *paths, const char *const *expected, size_t count)
{
    struct ml_arena arena = {0};
    const char *names[8];

    assert_int_equal(ml_run_names(paths, count, &arena, names), 0);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(names[i], expected[i]);
    ml_arena_release(&arena);
}

#define NAMES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void what_is_common_is_left_out(void **state)
{
    (void)state;
    names_are(NAMES("out/vgg19-direct.mled", "vgg19-fft.mled"), NAMES("direct", "fft"), 2);
    names_are(NAMES("a.1.mled", "b.1.mled"), NAMES("a", "b"), 2);
    names_are(NAMES("run-32-x.mled", "run-64-x.mled"), NAMES("32", "64"), 2);
}

static void common_is(const char *const *paths, size_t count, const char *expected)
{
    struct ml_arena arena = {0};
    const char *names[8];

    assert_int_equal(ml_run_names(paths, count, &arena, names), 0);
    assert_string_equal(ml_run_names_common(paths, names, count, &arena), expected);
    ml_arena_release(&arena);
}

static void what_was_left_out_is_known(void **state)
{
    (void)state;
    common_is(NAMES("out/vgg19-direct.mled", "vgg19-fft.mled"), 2, "vgg19");
    common_is(NAMES("data-a.mled", "data-b.mled"), 2, "data");
    common_is(NAMES("a_b--c.mled", "a_b--d.mled"), 2, "a_b");
    common_is(NAMES("a.1.mled", "b.1.mled"), 2, "");
    common_is(NAMES("a-.mled", "a-b.mled"), 2, "");
    common_is(NAMES("x/a-1.mled", "y/a-1.mled"), 2, "");
    common_is(NAMES("a-b.mled"), 1, "");
}

static void words_are_not_cut(void **state)
{
    (void)state;
    names_are(NAMES("batch32.mled", "batch64.mled"), NAMES("batch32", "batch64"), 2);
    names_are(NAMES("train-fast.mled", "train-first.mled"), NAMES("fast", "first"), 2);
}

static void names_stay_apart_and_not_empty(void **state)
{
    (void)state;
    names_are(NAMES("a.mled"), NAMES("a"), 1);
    names_are(NAMES("a-.mled", "a-b.mled"), NAMES("a-", "a-b"), 2);
    names_are(NAMES("x/a.mled", "y/a.mled"), NAMES("x/a.mled", "y/a.mled"), 2);
    names_are(NAMES("a.mled", "a.mled"), NAMES("a.mled", "a.mled"), 2);
}

static void axes_go_below_zero(void **state)
{
    struct ml_scale s =
        ml_scale_signed_bytes(-(INT64_C(300) << 20), INT64_C(500) << 20, 8, ML_UNIT_AUTO);

    (void)state;
    assert_true(s.begin == -300.0 * 1048576 && s.end == 500.0 * 1048576);
    assert_true(s.step == 100.0 * 1048576);
    s = ml_scale_signed_bytes(-8, -3, 8, ML_UNIT_AUTO);
    assert_true(s.begin == -8 && s.end == 0 && s.step == 1);
    s = ml_scale_signed_bytes(0, 0, 8, ML_UNIT_AUTO);
    assert_true(s.begin == 0 && s.end > 0);
    s = ml_scale_signed_bytes(2, 8, 8, ML_UNIT_AUTO);
    assert_true(s.begin == 0 && s.end == 8);
}

static void axes_have_round_numbers(void **state)
{
    struct ml_scale s = ml_scale_bytes(UINT64_C(622) << 20, 6, ML_UNIT_AUTO);
    char text[32];

    (void)state;
    assert_string_equal(s.unit_name, "MiB");
    assert_true(s.step == 200.0 * 1048576);
    assert_string_equal(ml_scale_number(&s, 2 * s.step, text), "400");
    s = ml_scale_bytes(UINT64_C(6247) << 20, 6, ML_UNIT_AUTO);
    assert_string_equal(s.unit_name, "GiB");
    assert_true(s.step == 2.0 * 1073741824 || s.step == 1.0 * 1073741824);
    s = ml_scale_bytes(0, 6, ML_UNIT_AUTO);
    assert_true(s.end > 0 && s.step >= 1);
    s = ml_scale_bytes(3, 6, ML_UNIT_AUTO);
    assert_true(s.step == 1);
    s = ml_scale_bytes(UINT64_C(1) << 30, 6, ML_UNIT_MIB);
    assert_string_equal(s.unit_name, "MiB");
    s = ml_scale_time(2500000000, 8);
    assert_string_equal(s.unit_name, "s");
    assert_string_equal(ml_scale_number(&s, s.step, text), "0.5");
    s = ml_scale_time(UINT64_C(3600) * 1000000000, 8);
    assert_string_equal(s.unit_name, "min");
    s = ml_scale_time(0, 8);
    assert_true(s.end > 0);
    s = ml_scale_count(720, 8);
    assert_string_equal(ml_scale_number(&s, s.step, text), "100");
    s = ml_scale_count(3, 8); /* no half samples */
    assert_string_equal(ml_scale_number(&s, s.step, text), "1");
}

static void names_cannot_drive_a_terminal(void **state)
{
    struct ml_buf out;

    (void)state;
    ml_buf_init(&out);
    assert_int_equal(ml_report_safe(&out, "a\033[31mb\nc\xff\xc3\xa4"), 0);
    assert_string_equal((char *)out.data, "a?[31mb c?\xc3\xa4");
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_common_is_left_out),
        cmocka_unit_test(what_was_left_out_is_known),
        cmocka_unit_test(words_are_not_cut),
        cmocka_unit_test(names_stay_apart_and_not_empty),
        cmocka_unit_test(axes_have_round_numbers),
        cmocka_unit_test(axes_go_below_zero),
        cmocka_unit_test(names_cannot_drive_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
