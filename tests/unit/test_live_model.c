/* test_live_model.c: keys change what the live view shows, and its lines fit the screen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "live_screen.h"
#include "utf8.h"

static struct ml_live_row rows[] = {
    {.name = "activation", .bytes = 300, .peak_bytes = 900, .has_growth = true, .growth_bytes = -5},
    {.name = "parameter", .bytes = 200, .peak_bytes = 200, .has_growth = true, .growth_bytes = 7},
    {.name = "gr\xc3\xa4"
             "dient\x1b[31m",
     .bytes = 100,
     .peak_bytes = 1000},
};

static struct ml_live_view view_of(struct ml_live_device *device)
{
    struct ml_live_view view = {.command = "train", .time_ns = 5000000000, .being_recorded = true};

    view.rows.items = rows;
    view.rows.len = ML_ARRAY_SIZE(rows);
    view.devices.items = device;
    view.devices.len = device ? 1 : 0;
    return view;
}

static void keys_change_the_question(void **state)
{
    struct ml_live_view view = view_of(NULL);
    struct ml_live_model m;

    (void)state;
    ml_live_model_init(&m, ML_KEY_CATEGORY);
    assert_int_equal(ml_live_model_show(&m, &view), 0);
    assert_int_equal(ml_live_model_key(&m, ML_KEY_DOWN, 5), ML_LIVE_GO_ON);
    assert_string_equal(m.rows.items[m.selected].name, "parameter");
    assert_int_equal(ml_live_model_key(&m, ML_KEY_ENTER, 5), ML_LIVE_ASK);
    assert_int_equal(m.question.by, ML_KEY_MODULE);
    assert_int_equal(m.question.filter_count, 1);
    assert_int_equal(m.question.filters[0].key, ML_KEY_CATEGORY);
    assert_string_equal(m.question.filters[0].name, "parameter");
    /* Tab never leads to a key that has one value. */
    for (int i = 0; i < 12; i++) {
        assert_int_equal(ml_live_model_key(&m, ML_KEY_TAB, 5), ML_LIVE_ASK);
        assert_int_not_equal(m.question.by, ML_KEY_CATEGORY);
    }
    assert_int_equal(ml_live_model_key(&m, ML_KEY_BACK, 5), ML_LIVE_ASK);
    assert_int_equal(m.question.by, ML_KEY_CATEGORY);
    assert_int_equal(ml_live_model_key(&m, ML_KEY_BACK, 5), ML_LIVE_GO_ON);
    assert_int_equal(ml_live_model_key(&m, 's', 5), ML_LIVE_SAVE);
    assert_int_equal(ml_live_model_key(&m, 'q', 5), ML_LIVE_QUIT);
    ml_live_model_release(&m);
}

static void rows_are_sorted_and_found(void **state)
{
    struct ml_live_view view = view_of(NULL);
    struct ml_live_model m;

    (void)state;
    ml_live_model_init(&m, ML_KEY_CATEGORY);
    ml_live_model_show(&m, &view);
    ml_live_model_key(&m, ML_KEY_END, 5);
    assert_int_equal(m.selected, 2);
    ml_live_model_key(&m, 'o', 5); /* by peak: the selected one stays selected */
    ml_live_model_show(&m, &view);
    assert_int_equal(m.rows.items[0].peak_bytes, 1000);
    assert_int_equal(m.selected, 0);
    ml_live_model_key(&m, 'o', 5);
    ml_live_model_show(&m, &view);
    assert_string_equal(m.rows.items[0].name, "parameter"); /* by growth */
    ml_live_model_key(&m, '/', 5);
    for (const char *p = "RAM\x03"; *p; p++)
        ml_live_model_key(&m, (uint8_t)*p, 5);
    ml_live_model_key(&m, 'q', 5); /* typed, too */
    ml_live_model_key(&m, ML_KEY_BACK, 5);
    ml_live_model_show(&m, &view);
    assert_string_equal(m.text, "RAM");
    assert_int_equal(m.rows.len, 1);
    ml_live_model_key(&m, ML_KEY_ESCAPE, 5);
    ml_live_model_show(&m, &view);
    assert_int_equal(m.rows.len, 3);
    ml_live_model_release(&m);
}

static void lines_fit_any_screen(void **state)
{
    struct ml_second_history history = {0};
    struct ml_live_device device = {.name = "cuda:0", .bytes = 5, .history = &history};
    struct ml_live_view view = view_of(&device);
    struct ml_live_model m;

    (void)state;
    for (uint64_t s = 0; s < 400; s++)
        ml_second_history_put(&history, s * ML_NS_PER_SECOND, s % 90);
    ml_live_model_init(&m, ML_KEY_CATEGORY);
    ml_live_model_show(&m, &view);
    for (size_t width = 1; width < 200; width += 7) {
        for (size_t height = 1; height < 40; height += 3) {
            struct ml_screen screen;

            ml_screen_init(&screen, width, height, width % 2);
            m.help = height % 2;
            ml_live_screen(&m, &view, "t.mled", &screen);
            assert_int_equal(screen.error, 0);
            assert_int_equal(screen.lines.len, height);
            for (size_t i = 0; i < height; i++) {
                const char *text = screen.lines.items[i].text;

                assert_int_equal(ml_utf8_width(text, strlen(text)), width);
                assert_null(strchr(text, '\x1b'));
            }
            ml_screen_release(&screen);
        }
    }
    ml_live_model_release(&m);
}

static void history_is_kept(void **state)
{
    struct ml_second_history h = {0};
    uint64_t seconds;

    (void)state;
    assert_int_equal(ml_second_history_ago(&h, 60, &seconds), 0);
    ml_second_history_put(&h, 10 * (uint64_t)ML_NS_PER_SECOND, 100);
    assert_int_equal(ml_second_history_ago(&h, 60, &seconds), 100);
    assert_int_equal(seconds, 0);
    ml_second_history_put(&h, 20 * (uint64_t)ML_NS_PER_SECOND, 300);
    assert_int_equal(ml_second_history_ago(&h, 5, &seconds), 100); /* nothing changed meanwhile */
    assert_int_equal(ml_second_history_ago(&h, 60, &seconds), 100);
    assert_int_equal(seconds, 10);
    ml_second_history_put(&h, 2000 * (uint64_t)ML_NS_PER_SECOND, 500);
    assert_int_equal(ml_second_history_ago(&h, 60, &seconds), 300);
    assert_int_equal(ml_second_history_ago(&h, 0, &seconds), 500);
}

static void rows_grow(void **state)
{
    struct ml_row_history h = {0};
    struct ml_row_bytes a[] = {{7, 70}, {3, 30}}, b[] = {{3, 20}, {9, 5}};
    int64_t growth;

    (void)state;
    assert_int_equal(ml_row_history_put(&h, 1, 0, a, 2), 0);
    assert_false(ml_row_history_growth(&h, 3, 30, &growth));
    assert_int_equal(ml_row_history_put(&h, 1, 5 * (uint64_t)ML_NS_PER_SECOND, b, 2), 0);
    assert_true(ml_row_history_growth(&h, 3, 20, &growth));
    assert_int_equal(growth, -10);
    assert_true(ml_row_history_growth(&h, 9, 5, &growth));
    assert_int_equal(growth, 5);
    assert_int_equal(ml_row_history_peak(&h, 3), 30);
    assert_int_equal(ml_row_history_put(&h, 1, 64 * (uint64_t)ML_NS_PER_SECOND, b, 2), 0);
    assert_true(ml_row_history_growth(&h, 3, 25, &growth)); /* the first second is too old */
    assert_int_equal(growth, 5);
    assert_int_equal(ml_row_history_put(&h, 2, 65 * (uint64_t)ML_NS_PER_SECOND, b, 2), 0);
    assert_false(ml_row_history_growth(&h, 3, 25, &growth)); /* another question */
    ml_row_history_release(&h);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_change_the_question),
        cmocka_unit_test(rows_are_sorted_and_found),
        cmocka_unit_test(lines_fit_any_screen),
        cmocka_unit_test(history_is_kept),
        cmocka_unit_test(rows_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
