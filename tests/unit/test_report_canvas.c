/* test_report_canvas.c: drawings as files: text made harmless and cut to its place,
 * formats by name, hostile names in every format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "canvas.h"

/* Asked by the leak sanitizer: the fonts that Cairo found stay with fontconfig. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}

static const char *last_text(const struct ml_canvas *canvas)
{
    return canvas->shapes.len ? canvas->shapes.items[canvas->shapes.len - 1].text : NULL;
}

static void formats_follow_the_name(void **state)
{
    enum ml_picture_format format;

    (void)state;
    assert_true(ml_picture_format_of("a.svg", &format) && format == ML_PICTURE_SVG);
    assert_true(ml_picture_format_of("x/y.b.PNG", &format) && format == ML_PICTURE_PNG);
    assert_true(ml_picture_format_of("a.pdf", &format) && format == ML_PICTURE_PDF);
    assert_false(ml_picture_format_of("a.gif", &format));
    assert_false(ml_picture_format_of("svg", &format));
}

static void text_is_cut_to_its_place(void **state)
{
    const struct ml_lettering plain = {0};
    struct ml_canvas canvas = {0};

    (void)state;
    ml_draw_text_within(&canvas, &plain, 0, 0, 1000, "encoder.layers.0");
    assert_string_equal(last_text(&canvas), "encoder.layers.0");
    ml_draw_text_within(&canvas, &plain, 0, 0, 60, "encoder.layers.0");
    assert_non_null(strstr(last_text(&canvas), "…"));
    assert_true(ml_text_width(last_text(&canvas), ML_TEXT_PX, false) <= 60);
    ml_draw_text_within(&canvas, &plain, 0, 0, 60,
                        "\xe6\xb8\xac\xe8\xa9\xa6\xe6\xb8\xac\xe8\xa9\xa6");
    assert_string_equal(last_text(&canvas), "\xe6\xb8\xac\xe8\xa9\xa6…");
    assert_int_equal(canvas.shapes.len, 3);
    ml_draw_text_within(&canvas, &plain, 0, 0, 20, "encoder");
    assert_int_equal(canvas.shapes.len, 3);
    assert_true(ml_text_width("WWW", 10, false) > ml_text_width("iii", 10, false));
    assert_true(ml_text_width("abc", 10, true) > ml_text_width("abc", 10, false));
    ml_canvas_release(&canvas);
}

static void draw_odd_things(struct ml_canvas *canvas)
{
    const struct ml_lettering halo = {.halo = true, .bold = true, .degrees = -60, .size = 9};
    struct ml_pen pen = {.fill = ML_INK_PART, .hover = "<&\"\x01\xff>", .opacity = 0.5};

    canvas->width = 120;
    canvas->height = 80;
    canvas->title = ml_canvas_printf(canvas, "%s", "a\xff<b>&\"\n\x02\xc2\x85");
    ml_draw_text(canvas, &halo, 10, 70, "\xf0\x9f\x98\x80 a<b & \"c\"\x07\xed\xa0\x80");
    for (int hatch = 0; hatch < ML_HATCHES; hatch++) {
        pen.hatch = (enum ml_hatch)hatch;
        ml_draw_box(canvas, &pen, 10 * hatch, 5, 9, 20);
    }
    pen = (struct ml_pen){.stroke = ML_INK_SERIES, .width = 2};
    for (pen.dash = 0; pen.dash < ML_DASHES; pen.dash++)
        ml_draw_line(canvas, &pen, 0, 30 + pen.dash, 120, 30 + pen.dash);
    ml_draw_circle(canvas, &pen, 60, 40, 5);
    ml_draw_begin(canvas, &pen); /* without points */
}

static void names_cannot_break_an_svg(void **state)
{
    struct ml_picture_opts opts = {.format = ML_PICTURE_SVG};
    struct ml_canvas canvas = {0};
    struct ml_error err = {0};
    struct ml_buf out = {0};
    const char *text;

    (void)state;
    draw_odd_things(&canvas);
    assert_int_equal(ml_canvas_write(&canvas, &opts, &out, &err), 0);
    text = (const char *)out.data;
    assert_non_null(strstr(text, "<title id=\"title\">a?&lt;b&gt;&amp;&quot; ?"
                                 "?</title>"));
    assert_non_null(strstr(text, "<title>&lt;&amp;&quot;?"
                                 "?&gt;</title>"));
    assert_non_null(strstr(text, " a&lt;b &amp; &quot;c&quot;???"
                                 "?</text>"));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text, "@media print"));
    ml_buf_release(&out);
    ml_canvas_release(&canvas);
}

/* Where there is Cairo; elsewhere the error names the way out. */
static void png_and_pdf_are_what_they_say(void **state)
{
    static const char *const magic[] = {"", "\x89PNG\r\n\x1a\n", "%PDF-"};

    (void)state;
    for (int format = ML_PICTURE_PNG; format <= ML_PICTURE_PDF; format++) {
        struct ml_picture_opts opts = {.format = (enum ml_picture_format)format, .scale = 1.5};
        struct ml_canvas canvas = {0};
        struct ml_error err = {0};
        struct ml_buf out = {0};
        int r;

        draw_odd_things(&canvas);
        r = ml_canvas_write(&canvas, &opts, &out, &err);
        if (r == -ENOSYS)
            assert_non_null(strstr(err.text, "libcairo2"));
        else
            assert_int_equal(r, 0);
        if (r == 0)
            assert_memory_equal(out.data, magic[format], strlen(magic[format]));
        ml_buf_release(&out);
        ml_canvas_release(&canvas);
    }
}

/* Of a damaged trace a place may be anywhere, or none. */
static void every_place_can_be_written(void **state)
{
    static const double places[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    struct ml_picture_opts opts = {.format = ML_PICTURE_SVG};
    struct ml_canvas canvas = {.width = 10, .height = 10};
    struct ml_error err = {0};
    struct ml_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        ml_draw_line(&canvas, &(struct ml_pen){.stroke = ML_INK_AXIS}, 1, places[i], places[i], 2);
        ml_draw_text(&canvas, &(struct ml_lettering){0}, places[i], places[i], "a");
    }
    assert_int_equal(ml_canvas_write(&canvas, &opts, &out, &err), 0);
    assert_null(strstr((const char *)out.data, "nan"));
    assert_null(strstr((const char *)out.data, "inf"));
    assert_null(strstr((const char *)out.data, "92233720"));
    ml_buf_release(&out);
    ml_canvas_release(&canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_can_be_written),
        cmocka_unit_test(formats_follow_the_name),
        cmocka_unit_test(text_is_cut_to_its_place),
        cmocka_unit_test(names_cannot_break_an_svg),
        cmocka_unit_test(png_and_pdf_are_what_they_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
