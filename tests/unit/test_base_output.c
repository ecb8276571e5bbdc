/* test_base_output.c: a file that is written completely or not at all, and replaces another
 * only when allowed (base/output_file.h, base/part_file.h), on file systems of every kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output_file.h"

/* ---- File systems that lack something ------------------------------------------- */

int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);

static int renameat2_error, link_error; /* 0: the real one */

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    errno = renameat2_error;
    return renameat2_error ? -1 : __real_renameat2(from_dir, from, to_dir, to, flags);
}

int __wrap_link(const char *from, const char *to)
{
    errno = link_error;
    return link_error ? -1 : __real_link(from, to);
}

static const struct {
    int renameat2_error, link_error;
} systems[] = {{0, 0}, {EINVAL, 0}, {EINVAL, EPERM}, {ENOSYS, EOPNOTSUPP}};

/* ---- A folder ------------------------------------------------------------------- */

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "%s", "/tmp/ml-output-XXXXXX");
    return !mkdtemp(folder) || chdir(folder) < 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)state;
    renameat2_error = link_error = 0;
    unlink("a");
    return chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static void put(const char *text)
{
    FILE *file = fopen("a", "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void has(const char *text)
{
    char found[32] = "";
    FILE *file = fopen("a", "r");

    assert_non_null(file);
    (void)!fgets(found, sizeof(found), file);
    fclose(file);
    assert_string_equal(found, text);
}

static void has_files(int count)
{
    DIR *dir = opendir(".");
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        count -= entry->d_name[0] != '.';
    closedir(dir);
    assert_int_equal(count, 0);
}

/* ---- Tests ---------------------------------------------------------------------- */

static int begin(struct ml_output *out, bool force)
{
    struct ml_error err = {0};
    int r = ml_output_open(out, "a", force, &err);

    return r < 0 ? r : ml_buf_puts(&out->text, "new");
}

static void each_system(void (*check)(void))
{
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
        renameat2_error = systems[i].renameat2_error;
        link_error = systems[i].link_error;
        unlink("a");
        check();
    }
}

static void check_new_name(void)
{
    struct ml_output out;

    assert_int_equal(begin(&out, false), 0);
    assert_int_equal(ml_output_commit(&out, NULL), 0);
    has("new");
    has_files(1);
}

static void takes_a_name_that_is_free(void **state)
{
    (void)state;
    each_system(check_new_name);
}

static void check_taken_name(void)
{
    struct ml_error err = {0};
    struct ml_output out;

    assert_int_equal(begin(&out, false), 0);
    put("another's");
    assert_int_equal(ml_output_commit(&out, &err), -EEXIST);
    assert_string_equal(err.text, "a exists; choose another name or overwrite it with -f");
    has("another's");
    has_files(1);
}

static void leaves_a_file_that_appeared_meanwhile(void **state)
{
    (void)state;
    each_system(check_taken_name);
}

static void check_replaced(void)
{
    struct ml_output out;

    put("old");
    assert_int_equal(begin(&out, false), -EEXIST);
    assert_int_equal(begin(&out, true), 0);
    has("old");
    assert_int_equal(ml_output_commit(&out, NULL), 0);
    has("new");
    has_files(1);
}

static void replaces_when_told_to(void **state)
{
    (void)state;
    each_system(check_replaced);
}

static void leaves_nothing_when_given_up(void **state)
{
    struct ml_output out;

    (void)state;
    put("old");
    assert_int_equal(begin(&out, true), 0);
    has_files(2);
    ml_output_abort(&out);
    has("old");
    has_files(1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(takes_a_name_that_is_free),
        IN_FOLDER(leaves_a_file_that_appeared_meanwhile),
        IN_FOLDER(replaces_when_told_to),
        IN_FOLDER(leaves_nothing_when_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
