/* test_base_io.c: whole reads and writes (base/io.h), and error texts (base/error.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "io.h"

enum { MUCH = 1 << 20 };

static void *drain(void *arg)
{
    int fd = *(int *)arg;
    size_t *total = calloc(1, sizeof(*total));
    char bytes[777];
    ssize_t n;

    while (total && (n = read(fd, bytes, sizeof(bytes))) > 0)
        *total += (size_t)n;
    return total;
}

/* More than a pipe holds: the writer sees short writes. */
static void writes_all_into_a_pipe(void **state)
{
    char *bytes = calloc(1, MUCH);
    pthread_t thread;
    void *total;
    int fds[2];

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(pthread_create(&thread, NULL, drain, &fds[0]), 0);
    assert_int_equal(ml_write_all(fds[1], bytes, MUCH), 0);
    assert_int_equal(ml_write_all(fds[1], NULL, 0), 0);
    close(fds[1]);
    assert_int_equal(pthread_join(thread, &total), 0);
    assert_non_null(total);
    assert_int_equal(*(size_t *)total, MUCH);
    close(fds[0]);
    free(total);
    free(bytes);
}

static void reads_exactly(void **state)
{
    FILE *file = tmpfile();
    char bytes[8] = "";

    (void)state;
    assert_non_null(file);
    assert_int_equal(ml_write_all(fileno(file), "0123456789", 10), 0);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 4, 3), 0);
    assert_memory_equal(bytes, "3456", 4);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 4, 6), 0);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 4, 7), -ENODATA);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 1, 10), -ENODATA);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 0, 1000), 0);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 1, UINT64_MAX), -EOVERFLOW);
    assert_int_equal(ml_pread_all(fileno(file), bytes, 2, INT64_MAX), -EOVERFLOW);
    fclose(file);
}

static void copies_what_follows(void **state)
{
    FILE *from = tmpfile(), *to = tmpfile();
    char *bytes = malloc(MUCH), *copy = malloc(MUCH);

    (void)state;
    assert_true(from && to && bytes && copy);
    for (size_t i = 0; i < MUCH; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    assert_int_equal(ml_write_all(fileno(from), bytes, MUCH), 0);
    assert_int_equal(lseek(fileno(from), 3, SEEK_SET), 3);
    assert_int_equal(ml_copy_all(fileno(from), fileno(to)), 0);
    assert_int_equal(lseek(fileno(to), 0, SEEK_END), MUCH - 3);
    assert_int_equal(ml_pread_all(fileno(to), copy, MUCH - 3, 0), 0);
    assert_memory_equal(copy, bytes + 3, MUCH - 3);
    assert_int_equal(ml_copy_all(fileno(from), fileno(to)), 0);
    free(copy);
    free(bytes);
    fclose(to);
    fclose(from);
}

static void failures_are_errno(void **state)
{
    char byte;

    (void)state;
    assert_int_equal(ml_write_all(-1, "x", 1), -EBADF);
    assert_int_equal(ml_pread_all(-1, &byte, 1, 0), -EBADF);
    assert_int_equal(ml_copy_all(-1, 1), -EBADF);
}

static void error_keeps_code_and_text(void **state)
{
    struct ml_error err = {0};

    (void)state;
    assert_int_equal(ml_error_set(NULL, -EINVAL, "nobody %s", "reads"), -EINVAL);
    assert_int_equal(ml_error_set(&err, -ENOENT, "%s: no trace", "a.mlt"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.text, "a.mlt: no trace");
    /* A caller puts its words in front. */
    ml_error_set(&err, err.code, "cannot open: %s", err.text);
    assert_string_equal(err.text, "cannot open: a.mlt: no trace");
}

static void long_texts_are_cut_at_characters(void **state)
{
    struct ml_error err;
    char text[600];

    (void)state;
    for (size_t ascii = 500; ascii < 515; ascii++) {
        size_t len = ascii;

        memset(text, 'x', sizeof(text));
        memcpy(text + len, "\xe2\x82\xac\xc3\xa9\xf0\x9f\x98\x80", 10);
        ml_error_set(&err, -EIO, "%s", text);
        len = strlen(err.text);
        assert_true(len <= 511 && (len >= 508 || len == ascii + 9));
        assert_memory_equal(err.text, text, len);
        /* Not in the middle of a sequence: what follows is no continuation. */
        assert_true(((unsigned char)text[len] & 0xc0) != 0x80);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_all_into_a_pipe),
        cmocka_unit_test(reads_exactly),
        cmocka_unit_test(copies_what_follows),
        cmocka_unit_test(failures_are_errno),
        cmocka_unit_test(error_keeps_code_and_text),
        cmocka_unit_test(long_texts_are_cut_at_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
