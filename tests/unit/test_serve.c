/* test_serve.c: who may ask the server of `memledger view`, and for what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "child_output.h"
#include "command_query.h"
#include "guard.h"
#include "private_folder.h"
#include "served_files.h"

static const char *const files[] = {"/tmp/a b.mled", "-x.mled"};

/* ---- Visitors -------------------------------------------------------------- */

static void test_addresses(void **state)
{
    struct ml_guard guard;
    static const struct {
        const char *host, *origin;
        bool accepted;
    } cases[] = {
        {"127.0.0.1:4000", NULL, true},
        {"localhost:4000", "http://localhost:4000", true},
        {"127.0.0.1:4000", "http://127.0.0.1:4000", true},
        {NULL, NULL, false},
        {"127.0.0.1", NULL, false},
        {"127.0.0.1:4001", NULL, false},
        {"127.0.0.1:40000", NULL, false},
        {"evil.example:4000", NULL, false},
        {"127.0.0.1:4000", "http://evil.example", false},
        {"127.0.0.1:4000", "https://127.0.0.1:4000", false},
        {"127.0.0.1:4000", "null", false},
    };

    (void)state;
    assert_int_equal(ml_guard_init(&guard, 4000), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ml_visitor visitor = {.host = cases[i].host, .origin = cases[i].origin};
        assert_int_equal(ml_guard_is_for_us(&guard, &visitor), cases[i].accepted);
    }
}

static void test_places(void **state)
{
    struct ml_guard guard, other;
    char url[64];

    (void)state;
    assert_int_equal(ml_guard_init(&guard, 80), 0);
    assert_int_equal(ml_guard_init(&other, 80), 0);
    assert_string_not_equal(guard.place, other.place);
    snprintf(url, sizeof(url), "/%s/api/files", guard.place);
    assert_string_equal(ml_guard_path(&guard, url), "/api/files");
    assert_null(ml_guard_path(&other, url));
    url[1 + strlen(guard.place)] = '\0';
    assert_null(ml_guard_path(&guard, url));
    assert_null(ml_guard_path(&guard, "/api/files"));
    assert_null(ml_guard_path(&guard, ""));
}

static void test_tokens(void **state)
{
    struct ml_guard guard, other;
    char wrong[sizeof(guard.token)], longer[sizeof(guard.token) + 1];

    (void)state;
    assert_int_equal(ml_guard_init(&guard, 4000), 0);
    assert_int_equal(ml_guard_init(&other, 4000), 0);
    assert_int_equal(strlen(guard.token), 2 * ML_TOKEN_BYTES);
    assert_string_not_equal(guard.token, other.token);
    memcpy(wrong, guard.token, sizeof(wrong));
    wrong[31] = wrong[31] == '0' ? '1' : '0';
    snprintf(longer, sizeof(longer), "%s0", guard.token);
    assert_true(ml_guard_has_token(&guard, &(struct ml_visitor){.token = guard.token}));
    assert_true(ml_guard_has_cookie(&guard, &(struct ml_visitor){.cookie = guard.token}));
    assert_false(ml_guard_has_cookie(&guard, &(struct ml_visitor){.token = guard.token}));
    assert_false(ml_guard_has_token(&guard, &(struct ml_visitor){.token = wrong}));
    assert_false(ml_guard_has_token(&guard, &(struct ml_visitor){.token = longer}));
    assert_false(ml_guard_has_token(&guard, &(struct ml_visitor){.token = ""}));
    assert_false(ml_guard_has_token(&guard, &(struct ml_visitor){0}));
}

/* ---- Commands --------------------------------------------------------------- */

static int add(struct ml_command_query *query, const char *name, const char *value)
{
    return ml_command_query_add(query, name, value, files, 2, NULL);
}

static void test_command(void **state)
{
    static const char *const expected[] = {"table",       "--json",        "--by=module,label",
                                           "--temporary", "/tmp/a b.mled", "./-x.mled"};
    struct ml_command_query query;

    (void)state;
    assert_int_equal(ml_command_query_begin(&query, "table", NULL), 0);
    assert_int_equal(add(&query, "file", "0"), 0);
    assert_int_equal(add(&query, "by", "module,label"), 0);
    assert_int_equal(add(&query, "temporary", NULL), 0);
    assert_int_equal(add(&query, "file", "1"), 0);
    assert_int_equal(ml_command_query_end(&query, NULL), 0);
    assert_int_equal(query.argv.len, 7);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(query.argv.items[i], expected[i]);
    assert_null(query.argv.items[6]);
    assert_string_equal(ml_command_query_text(&query),
                        "memledger table --by=module,label --temporary '/tmp/a b.mled' ./-x.mled");
    ml_command_query_release(&query);
}

static void test_quotes(void **state)
{
    struct ml_command_query query;

    (void)state;
    assert_int_equal(ml_command_query_begin(&query, "events", NULL), 0);
    assert_int_equal(add(&query, "scope", "it's\n\"$x\""), 0);
    assert_int_equal(add(&query, "file", "0"), 0);
    assert_int_equal(ml_command_query_end(&query, NULL), 0);
    assert_string_equal(ml_command_query_text(&query),
                        "memledger events '--scope=it'\\''s?\"$x\"' '/tmp/a b.mled'");
    ml_command_query_release(&query);
}

static void test_refused(void **state)
{
    static const char *const names[][2] = {
        {"file", "2"},          {"file", "-1"},  {"file", ""},
        {"file", NULL},         {"file", "0x"},  {"output", "x"},
        {"dictionary", "/etc"}, {"force", NULL}, {"max-memory", "9"},
        {"at", NULL},           {"", ""},
    };
    static const char *const verbs[] = {"run", "import", "export", "sql", "collect", "", "../tree"};
    struct ml_command_query query;

    (void)state;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        assert_int_equal(ml_command_query_begin(&query, verbs[i], NULL), -ENOENT);
        ml_command_query_release(&query);
    }
    assert_int_equal(ml_command_query_begin(&query, "tree", NULL), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_int_equal(add(&query, names[i][0], names[i][1]), -EINVAL);
    assert_int_equal(ml_command_query_end(&query, NULL), -EINVAL);
    ml_command_query_release(&query);
}

/* ---- Answers ------------------------------------------------------------------ */

/* Warnings about a damaged trace come before the reason. */
static void test_reasons(void **state)
{
    static const struct {
        const char *printed, *reason;
    } cases[] = {
        {"memledger: no such instant\n", "no such instant"},
        {"warning: 1 block skipped\nwarning: 2 lost\nmemledger: no GPU\nmore\n", "no GPU"},
        {"\n\nmemledger: late", "late"},
        {"ended by a signal\nsecond line\n", "ended by a signal"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ml_buf text = {0};

        assert_int_equal(ml_buf_puts(&text, cases[i].printed), 0);
        assert_string_equal(ml_child_reason(&text), cases[i].reason);
        ml_buf_release(&text);
    }
}

/* ---- Files ------------------------------------------------------------------- */

static void test_numbers_of_files(void **state)
{
    static struct ml_served_files served;

    (void)state;
    ml_served_files_init(&served);
    assert_int_equal(ml_served_files_add(&served, NULL, NULL, true), 0);
    assert_int_equal(ml_served_files_add(&served, "/a/b.mled", NULL, true), 1);
    assert_int_equal(ml_served_files_add(&served, "/a/c.mled", "shown", false), 2);
    assert_null(served.paths[0]);
    assert_string_equal(served.names[1], "b.mled");
    assert_string_equal(served.names[2], "shown");
    for (int i = 3; i < ML_SERVED_FILES_MAX; i++)
        assert_int_equal(ml_served_files_add(&served, "x", NULL, false), i);
    assert_int_equal(ml_served_files_add(&served, "x", NULL, false), -ENOSPC);
    ml_served_files_release(&served);
}

static void test_private_places(void **state)
{
    static const struct {
        const char *name, *expected;
    } cases[] = {{"a.pickle", "/0/a.pickle"},
                 {"../../etc/passwd", "/1/_._.._etc_passwd"},
                 {"-rf", "/2/_rf"},
                 {"", "/3/_"}};
    struct ml_private_folder folder = {0};
    char path[PATH_MAX];
    struct stat info;

    (void)state;
    assert_int_equal(ml_private_folder_make(&folder, NULL), 0);
    assert_int_equal(stat(folder.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(ml_private_folder_place(&folder, cases[i].name, path, NULL), 0);
        assert_string_equal(path + strlen(folder.path), cases[i].expected);
    }
    strcpy(path, folder.path);
    ml_private_folder_remove(&folder);
    assert_int_equal(stat(path, &info), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_places),           cmocka_unit_test(test_command),
        cmocka_unit_test(test_quotes),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_numbers_of_files), cmocka_unit_test(test_private_places),
        cmocka_unit_test(test_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
