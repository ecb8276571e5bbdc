/* test_trace_oom.c: the reader when memory runs out: fail the Nth allocation,
 * for every N.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fail_nth.h"
#include "trace_sample.h"

static int read_all(const struct ml_buf *bytes, bool salvage, struct ml_error *err)
{
    const struct ml_event *batch;
    struct ml_cursor *c = NULL;
    struct ml_trace *t = NULL;
    int code = ml_bytes_open(bytes->data, bytes->len, salvage, &t, err);

    if (!code)
        code = ml_cursor_open(t, 0, UINT64_MAX, &c, err);
    if (!code)
        while ((code = ml_cursor_next(c, &batch, err)) > 0)
            ;
    ml_cursor_free(c);
    ml_trace_free(t);
    return code;
}

/* Every failure is reported as what it is, never as damage, also where damage
 * would be passed over. Leaks are for the sanitizer to see. */
static void fail_each(const struct ml_buf *bytes, bool salvage)
{
    for (long n = 0;; n++) {
        struct ml_error err = {0};
        int code;

        fail_nth(n);
        code = read_all(bytes, salvage, &err);
        if (!fail_end()) {
            assert_int_equal(code, 0);
            return;
        }
        assert_int_equal(code, -ENOMEM);
        assert_non_null(strstr(err.text, "not enough memory"));
    }
}

static void reader_survives(void **state)
{
    struct ml_buf bytes = {0};

    (void)state;
    assert_int_equal(ml_sample_make(NULL, &bytes), 0);
    fail_each(&bytes, false);
    fail_each(&bytes, true);
    bytes.len -= 40; /* no trailer: it walks */
    fail_each(&bytes, false);
    bytes.data[bytes.len / 2] ^= 1; /* and searches */
    fail_each(&bytes, true);
    ml_buf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
