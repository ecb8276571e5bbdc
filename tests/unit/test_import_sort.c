/* test_import_sort.c: events come out in order of time, equals in the order they were added,
 * whether they are in memory or in a temporary file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "import_sort.h"

/* Times repeat often; `addr` is the order of adding. */
static void sort_many(uint64_t count, uint64_t (*time_of)(uint64_t))
{
    struct ml_import_sort sort = {0};
    struct ml_event event = {.kind = ML_ALLOC}, before = {0};
    uint64_t read = 0;

    for (uint64_t i = 0; i < count; i++) {
        event.time_ns = time_of(i);
        event.addr = i;
        assert_int_equal(ml_import_sort_add(&sort, &event), 0);
    }
    while (ml_import_sort_next(&sort, &event)) {
        assert_int_equal(event.time_ns, time_of(event.addr));
        if (read > 0)
            assert_true(event.time_ns > before.time_ns ||
                        (event.time_ns == before.time_ns && event.addr > before.addr));
        before = event;
        read++;
    }
    assert_int_equal(sort.error, 0);
    assert_int_equal(read, count);
    assert_int_equal(sort.runs.len > 0, count > ML_IMPORT_SORT_HELD);
    ml_import_sort_release(&sort);
}

static uint64_t mixed(uint64_t i)
{
    return i * 2654435761u % 1000;
}

static uint64_t falling(uint64_t i)
{
    return UINT32_MAX - i;
}

static uint64_t rising(uint64_t i)
{
    return i / 3;
}

static void test_held(void **state)
{
    (void)state;
    for (uint64_t count = 0; count < 70; count++) {
        sort_many(count, mixed);
        sort_many(count, falling);
        sort_many(count, rising);
    }
}

static void test_put_aside(void **state)
{
    (void)state;
    sort_many(ML_IMPORT_SORT_HELD, mixed);
    sort_many(ML_IMPORT_SORT_HELD + 1, falling);
    sort_many(2 * ML_IMPORT_SORT_HELD + 1234, mixed);
}

static void test_no_place(void **state)
{
    struct ml_import_sort sort = {0};
    struct ml_event event = {.kind = ML_ALLOC};
    int r = 0;

    (void)state;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    for (uint64_t i = 0; i <= ML_IMPORT_SORT_HELD && r == 0; i++)
        r = ml_import_sort_add(&sort, &event);
    unsetenv("TMPDIR");
    assert_int_equal(r, -ENOENT);
    assert_false(ml_import_sort_next(&sort, &event));
    ml_import_sort_release(&sort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_put_aside),
        cmocka_unit_test(test_no_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
