/* test_analyze_following.c: following a trace that cannot be opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "following.h"

static void test_missing_file(void **state)
{
    struct ml_following *f = NULL;
    struct ml_error err = {0};
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(ml_following_open("no such file", &f, &err), -ENOENT);
    assert_null(f);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* it closes nothing that is not its own */
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
