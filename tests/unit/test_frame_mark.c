/* test_frame_mark.c: a mark is found as long as its function runs, and looking for one that is gone
 * does no harm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "frame_mark.h"

/* As from a signal handler, below the function that left the mark. */
static ML_NOINLINE bool stands(const volatile uint64_t *mark)
{
    return ml_frame_stands(mark);
}

static void mark_on_this_stack(void **state)
{
    volatile uint64_t mark = 0;

    (void)state;
    assert_false(stands(&mark));
    mark = ml_frame_mark(&mark);
    assert_true(stands(&mark));
}

/* A handler left the function by longjmp, and the program has unmapped the coroutine's stack. */
static void mark_on_a_stack_that_is_gone(void **state)
{
    size_t bytes = 1 << 16;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile uint64_t *mark = (volatile uint64_t *)(memory + bytes / 2);

    (void)state;
    assert_true(memory != MAP_FAILED);
    *mark = ml_frame_mark(mark);
    for (int i = 0; i < 2; i++)
        assert_true(stands(mark));
    munmap(memory, bytes);
    (void)stands(mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mark_on_this_stack),
        cmocka_unit_test(mark_on_a_stack_that_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
