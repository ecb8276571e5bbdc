/* test_format_unknowns.c: facts that an imported trace lacks, as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unknowns.h"

static void all_there_and_back(void **state)
{
    const unsigned all = (1u << ML_UNKNOWN_COUNT) - 1;
    char text[ML_UNKNOWN_TEXT_BYTES];

    (void)state;
    assert_int_equal(ml_unknowns_parse(ml_unknowns_text(all, text)), all);
    for (unsigned i = 0; i < ML_UNKNOWN_COUNT; i++)
        assert_int_equal(ml_unknowns_parse(ml_unknowns_text(1u << i, text)), 1u << i);
}

static void words_of_older_traces(void **state)
{
    (void)state;
    assert_int_equal(ml_unknowns_parse("addresses,when some blocks were born"),
                     ML_UNKNOWN_ADDRESSES | ML_UNKNOWN_BIRTHS);
}

static void words_that_are_not_known(void **state)
{
    (void)state;
    assert_int_equal(ml_unknowns_parse("colours,frees,,"), ML_UNKNOWN_FREES);
    assert_int_equal(ml_unknowns_parse(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_there_and_back),
        cmocka_unit_test(words_of_older_traces),
        cmocka_unit_test(words_that_are_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
