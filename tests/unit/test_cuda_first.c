/* test_cuda_first.c: what counts as seen, and for how long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "cuda_first.h"

#define HANDLE(i) ((uintptr_t)0x555500000000 + (uintptr_t)(i)*64)

static void test_functions(void **state)
{
    (void)state;
    assert_false(ml_cuda_seen(HANDLE(1)));
    assert_false(ml_cuda_seen_at_once(HANDLE(1)));
    ml_cuda_note_seen(HANDLE(1));
    assert_true(ml_cuda_seen(HANDLE(1)));
    assert_false(ml_cuda_seen(HANDLE(1) | 1));
    assert_false(ml_cuda_seen(HANDLE(2)));
    ml_cuda_forget_firsts();
    assert_false(ml_cuda_seen(HANDLE(1)));
}

static void test_entries(void **state)
{
    (void)state;
    ml_cuda_forget_firsts();
    assert_false(ml_cuda_was_called(ML_CUDA_ENTRY_cuMemcpyAsync));
    ml_cuda_note_called(ML_CUDA_ENTRY_cuMemcpyAsync);
    assert_true(ml_cuda_was_called(ML_CUDA_ENTRY_cuMemcpyAsync));
    assert_false(ml_cuda_was_called(ML_CUDA_ENTRY_cuEventCreate));
    ml_cuda_forget_firsts();
    assert_false(ml_cuda_was_called(ML_CUDA_ENTRY_cuMemcpyAsync));
}

/* As many as a large framework has; and far more, which must come to an end. */
static void test_many(void **state)
{
    (void)state;
    ml_cuda_forget_firsts();
    for (unsigned i = 0; i < 16000; i++) {
        assert_false(ml_cuda_seen(HANDLE(i)));
        ml_cuda_note_seen(HANDLE(i));
        assert_true(ml_cuda_seen(HANDLE(i)));
    }
    for (unsigned i = 16000; i < 1000000; i++)
        ml_cuda_note_seen(HANDLE(i));
    for (unsigned i = 0; i < 1000000; i++)
        assert_true(ml_cuda_seen(HANDLE(i)));
    ml_cuda_forget_firsts();
    assert_false(ml_cuda_seen(HANDLE(0)));
}

/* What epochs are numbered with comes round. */
static void test_many_epochs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        ml_cuda_forget_firsts();
        assert_false(ml_cuda_seen(HANDLE(i)));
        ml_cuda_note_seen(HANDLE(i));
        assert_true(ml_cuda_seen(HANDLE(i)));
    }
}

static void *note_all(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 4000; i++) {
        ml_cuda_note_seen(HANDLE(i));
        if (!ml_cuda_seen(HANDLE(i)))
            return argument;
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[8];
    void *failed;

    (void)state;
    ml_cuda_forget_firsts();
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, note_all, threads), 0);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_entries),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_many_epochs),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
