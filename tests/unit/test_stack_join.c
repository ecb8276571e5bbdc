/* test_stack_join.c: native and Python frames in one stack. Real interpreters are in
 * tests/integration/heap_stacks; here are the cases that those seldom have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "python_walk.h"
#include "ring.h"
#include "stack_join.h"

#define ANY ML_PYTHON_ANY_RUNNER
#define P(number) (ML_STACK_PYTHON_FRAME | (number))

/* Native frames at 0x10, 0x20, …; the memory of each is 16 bytes. The loop is at 0x50 to 0x60. */
static const uint64_t pcs[] = {0x10, 0x55, 0x20, 0x30, 0x55, 0x40};
static const uintptr_t sps[] = {0x1000, 0x1010, 0x1020, 0x1030, 0x1040, 0x1050};

static struct ml_join native(void)
{
    return (struct ml_join){
        .pcs = pcs, .sps = sps, .native = ML_ARRAY_SIZE(pcs), .loop = {0x50, 0x60}};
}

static void joins(struct ml_join in, const uint32_t *numbers, const uintptr_t *runners, uint32_t n,
                  const uint64_t *wanted, uint32_t count)
{
    uint64_t found[ML_STACK_MAX_FRAMES] = {0};

    in.numbers = numbers;
    in.runners = runners;
    in.python = n;
    assert_int_equal(ml_stack_join(&in, found), count);
    assert_memory_equal(found, wanted, count * sizeof(*wanted));
}
#define JOINS(in, numbers, runners, ...)                                                           \
    joins(in, numbers, runners, ML_ARRAY_SIZE(numbers), (const uint64_t[]){__VA_ARGS__},           \
          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A native frame of the loop runs one or several Python frames. */
static void test_by_address(void **state)
{
    const uint32_t numbers[] = {1, 2, 3};
    const uintptr_t runners[] = {0, 0x1018, 0x1040};

    (void)state;
    JOINS(native(), numbers, runners, 0x10, P(1), P(2), 0x20, 0x30, P(3), 0x40);
}

/* Frames without a line are left out, and so is the native frame that runs only such. */
static void test_frames_that_do_not_count(void **state)
{
    const uint32_t numbers[] = {0, 2, 0};
    const uintptr_t runners[] = {0, 0x1018, 0x1040};

    (void)state;
    JOINS(native(), numbers, runners, 0x10, P(2), 0x20, 0x30, 0x40);
}

/* A stack that ends early, a runner that the walk did not meet, another interpreter's loop. */
static void test_other_runners(void **state)
{
    const uint32_t numbers[] = {1, 2};
    const uintptr_t beyond[] = {0x1018, 0x9000}, before[] = {0x800, 0x1040}, none[] = {0, 0};

    (void)state;
    JOINS(native(), numbers, beyond, 0x10, P(1), 0x20, 0x30, 0x55, 0x40, P(2));
    JOINS(native(), numbers, before, P(1), 0x10, 0x55, 0x20, 0x30, P(2), 0x40);
    JOINS(native(), numbers, none, 0x10, 0x55, 0x20, 0x30, 0x55, 0x40, P(1), P(2));
}

/* Before 3.11 every frame of the loop runs one. */
static void test_by_code(void **state)
{
    const uint32_t numbers[] = {1, 2, 3};
    const uintptr_t runners[] = {ANY, ANY, ANY};
    struct ml_join cut = native();

    (void)state;
    joins(native(), numbers, runners, 2, (const uint64_t[]){0x10, P(1), 0x20, 0x30, P(2), 0x40}, 6);
    /* One too many: part of the loop is elsewhere. */
    JOINS(native(), numbers, runners, 0x10, P(1), P(2), P(3));
    cut.is_cut = true;
    JOINS(cut, numbers, runners, 0x10, P(1), 0x20, 0x30, P(2), 0x40, P(3));
}

static void test_one_kind(void **state)
{
    const uint32_t numbers[] = {1, 2};
    const uintptr_t runners[] = {0, 0x1040};
    struct ml_join only_python = {0};

    (void)state;
    joins(native(), numbers, runners, 0, pcs, ML_ARRAY_SIZE(pcs));
    JOINS(only_python, numbers, runners, P(1), P(2));
}

static void test_too_many(void **state)
{
    uint32_t numbers[ML_STACK_MAX_FRAMES];
    uintptr_t runners[ML_STACK_MAX_FRAMES] = {0};
    uint64_t wanted[ML_STACK_MAX_FRAMES] = {0x10};

    (void)state;
    for (uint32_t i = 0; i < ML_STACK_MAX_FRAMES; i++)
        numbers[i] = i + 1;
    for (uint32_t i = 1; i < ML_STACK_MAX_FRAMES; i++)
        wanted[i] = P(i);
    runners[ML_STACK_MAX_FRAMES - 1] = 0x1018;
    joins(native(), numbers, runners, ML_STACK_MAX_FRAMES, wanted, ML_STACK_MAX_FRAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_address),    cmocka_unit_test(test_frames_that_do_not_count),
        cmocka_unit_test(test_other_runners), cmocka_unit_test(test_by_code),
        cmocka_unit_test(test_one_kind),      cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
