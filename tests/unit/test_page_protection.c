/* test_page_protection.c: pages of every kind, among many other mappings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "page_protection.h"

/* Neighbours differ, so that each page is a line of its own. */
#define PAGES 600

static uintptr_t pages;

static int sort_of(int page)
{
    static const int sorts[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
                                PROT_READ | PROT_EXEC};

    return sorts[page % 4];
}

static int map_pages(void **state)
{
    void *at = mmap(NULL, PAGES * ML_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (at == MAP_FAILED)
        return -1;
    pages = (uintptr_t)at;
    for (int i = 0; i < PAGES; i++) {
        if (mprotect((void *)(pages + (uintptr_t)i * ML_PAGE_BYTES), ML_PAGE_BYTES, sort_of(i)))
            return -1;
    }
    return 0;
}

static int unmap_pages(void **state)
{
    (void)state;
    return munmap((void *)pages, PAGES * ML_PAGE_BYTES);
}

static void each_page_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < PAGES; i += 7) {
        uintptr_t page = pages + (uintptr_t)i * ML_PAGE_BYTES;

        assert_int_equal(ml_page_protection(page), sort_of(i));
        assert_int_equal(ml_page_protection(page + ML_PAGE_BYTES - 1), sort_of(i));
    }
}

static void nothing_is_not_known(void **state)
{
    (void)state;
    assert_int_equal(ml_page_protection(0), ML_PAGE_UNKNOWN);
    assert_int_equal(ml_page_protection(UINTPTR_MAX), ML_PAGE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_page_is_told),
        cmocka_unit_test(nothing_is_not_known),
    };

    return cmocka_run_group_tests(tests, map_pages, unmap_pages);
}
