/* test_tbd_files.c: TBD's analysis of a log equals the output and files of TBD's own script to
 * the byte.
 *
 * Arguments: the log, its _ANALYSIS, what was printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "float_text.h"
#include "tbd_report.h"

#define LOG_NAME "logs2/conv_resnet_log" /* as it was given to the script */

static const char *log_path, *analysis_path, *printed_path;

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 1 << 16);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The script's rules: a line with "Allocate", cut at spaces, its third and seventh word. */
static void read_log(const char *path, struct ml_tag_list *ret)
{
    char *text = read_all(path), *line = strtok(text, "\n");

    *ret = (struct ml_tag_list){.gross = true};
    for (; line; line = strtok(NULL, "\n")) {
        unsigned long bytes;
        char tag[512];
        int64_t id;

        if (!strstr(line, "Allocate"))
            continue;
        assert_int_equal(
            2, sscanf(line, "[mem] Allocate %lu bytes GPU memory (%511[^)]).", &bytes, tag));
        id = ml_intern_put(&ret->tags, tag, strlen(tag), NULL);
        assert_true(id >= 0);
        assert_int_equal(
            0, ml_vec_push(&ret->list, (struct ml_tagged){.bytes = bytes, .tag = (uint32_t)id}));
    }
    free(text);
}

static void test_files(void **state)
{
    char *analysis = read_all(analysis_path), *printed = read_all(printed_path);
    struct ml_buf json = {0}, text = {0};
    struct ml_tbd_analysis a;
    struct ml_tag_list list;

    (void)state;
    read_log(log_path, &list);
    assert_int_equal(0, ml_tbd_analysis(&list, NULL, &a));
    assert_int_equal(0, ml_tbd_json(&a, &json));
    assert_string_equal(analysis, (char *)json.data);
    assert_int_equal(0, ml_tbd_text(&a, LOG_NAME, &text));
    assert_string_equal(printed, (char *)text.data);
    assert_int_equal(4, a.unknown.len);
    ml_buf_release(&json);
    ml_buf_release(&text);
    ml_tbd_analysis_release(&a);
    ml_tag_list_release(&list);
    free(analysis);
    free(printed);
}

static void test_python_floats(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {1048608, "1048608.0"},
        {64.000030517578125, "64.00003051757812"},
        {0.00423431396484375, "0.00423431396484375"},
        {0.1, "0.1"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {100, "100.0"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {9007199254740993.0, "9007199254740992.0"},
        {1e16, "1e+16"},
        {-2.5, "-2.5"},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(cases[i].text, ml_format_python_float(buf, cases[i].value));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_python_floats),
    };

    if (argc != 4)
        return 2;
    log_path = argv[1];
    analysis_path = argv[2];
    printed_path = argv[3];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
