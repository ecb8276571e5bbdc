/* test_torch_node_layout.c: where autograd's nodes have their numbers, and what cannot be them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "torch_node_layout.h"

#define TAPE 3
#define OTHER_TAPE 1
#define NEXT 100
#define POINTER UINT64_C(0x55d0c0de1230)

static const struct ml_torch_counter here = {TAPE, NEXT}, nobody = {0, 0};

static enum ml_torch_fit fit(uint64_t tape, uint64_t number)
{
    struct ml_torch_numbers n = {tape, number};

    return ml_torch_numbers_fit(&n, &here, &nobody);
}

static void test_reads_both_layouts(void **state)
{
    uint64_t weak[] = {POINTER, 0, POINTER, 7, 1, 1, TAPE};
    uint64_t counted[] = {POINTER, 1, 8, 1, 1, TAPE, POINTER};
    struct ml_torch_numbers n;

    (void)state;
    weak[1] = (uintptr_t)weak;
    n = ml_torch_numbers_in(weak, weak);
    assert_int_equal(n.tape, TAPE);
    assert_int_equal(n.number, 7);
    n = ml_torch_numbers_in(counted, counted);
    assert_int_equal(n.tape, TAPE);
    assert_int_equal(n.number, 8);
}

static void test_what_the_thread_gave_out_fits(void **state)
{
    (void)state;
    assert_int_equal(fit(TAPE, 0), ML_TORCH_FITS);
    assert_int_equal(fit(TAPE, NEXT - 1), ML_TORCH_FITS);
    assert_int_equal(fit(TAPE, NEXT), ML_TORCH_STRANGE);
}

/* A device's thread runs what the thread made that asked for the pass. */
static void test_what_the_asking_thread_gave_out_fits(void **state)
{
    struct ml_torch_counter asked = {OTHER_TAPE, 5000};
    struct ml_torch_numbers old = {OTHER_TAPE, 4999}, new = {OTHER_TAPE, 5000};

    (void)state;
    assert_int_equal(ml_torch_numbers_fit(&old, &here, &asked), ML_TORCH_FITS);
    assert_int_equal(ml_torch_numbers_fit(&new, &here, &asked), ML_TORCH_UNDECIDED);
    assert_int_equal(fit(OTHER_TAPE, 4999), ML_TORCH_UNDECIDED);
}

static void test_nodes_without_a_number_decide_nothing(void **state)
{
    (void)state;
    assert_int_equal(fit(TAPE, ML_TORCH_NO_NUMBER), ML_TORCH_UNDECIDED);
    assert_int_equal(fit(0, ML_TORCH_NO_NUMBER), ML_TORCH_STRANGE);
}

static void test_pointers_are_strange(void **state)
{
    (void)state;
    assert_int_equal(fit(POINTER, 7), ML_TORCH_STRANGE);
    assert_int_equal(fit(OTHER_TAPE, POINTER), ML_TORCH_STRANGE);
    assert_int_equal(fit(0, 7), ML_TORCH_STRANGE);
}

/* One word more or less in front of the numbers. */
static void test_other_layouts_are_strange(void **state)
{
    uint64_t later[] = {POINTER, POINTER, POINTER, POINTER, 7, 1, 1};
    uint64_t earlier[] = {POINTER, 7, 1, 1, TAPE, POINTER, POINTER};
    struct ml_torch_numbers n = ml_torch_numbers_in(later, later);

    (void)state;
    assert_int_equal(ml_torch_numbers_fit(&n, &here, &nobody), ML_TORCH_STRANGE);
    n = ml_torch_numbers_in(earlier, earlier);
    assert_int_equal(ml_torch_numbers_fit(&n, &here, &nobody), ML_TORCH_STRANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_both_layouts),
        cmocka_unit_test(test_what_the_thread_gave_out_fits),
        cmocka_unit_test(test_what_the_asking_thread_gave_out_fits),
        cmocka_unit_test(test_nodes_without_a_number_decide_nothing),
        cmocka_unit_test(test_pointers_are_strange),
        cmocka_unit_test(test_other_layouts_are_strange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
