/* test_readable_name.c: names of C++ and Rust functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "readable_name.h"

static void check(const char *symbol, const char *wanted)
{
    char *name = ml_readable_name(symbol);

    assert_non_null(name);
    assert_string_equal(name, wanted);
    free(name);
}

static void names_of_cpp(void **state)
{
    (void)state;
    check("_Znwm", "operator new(unsigned long)");
    check("_ZNSt6vectorIiSaIiEE9push_backEOi",
          "std::vector<int, std::allocator<int> >::push_back(int&&)");
    check("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
}

static void names_of_rust(void **state)
{
    (void)state;
    check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    check("_RNvXCs1234_7mycrateNtB2_5ThingNtNtCs5678_4core3fmt5Debug3fmt",
          "<mycrate::Thing as core::fmt::Debug>::fmt");
    check("_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$8grow_one17h0123456789abcdefE",
          "alloc::raw_vec::RawVec<T,A>::grow_one");
}

static void other_names(void **state)
{
    (void)state;
    assert_null(ml_readable_name("malloc"));
    assert_null(ml_readable_name("_start"));
    assert_null(ml_readable_name("_Z"));
    assert_null(ml_readable_name(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_cpp),
        cmocka_unit_test(names_of_rust),
        cmocka_unit_test(other_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
