/* heap_expect.h: how a heap test program reports what it did.
 *
 * Blocks are identified by their size, which no other part of the program uses: "expect SIZE N
 * GONE" means that N blocks of SIZE bytes were allocated and GONE of them freed or moved away.
 * test_heap.py compares that with the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HEAP_EXPECT_H
#define HEAP_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

static inline void expect(size_t bytes, long allocated, long gone)
{
    printf("expect %zu %ld %ld\n", bytes, allocated, gone);
}

static inline void check_at(int ok, const char *file, int line, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    exit(99);
}

#define CHECK(condition) check_at(!!(condition), __FILE__, __LINE__, #condition)

/* The compiler must not see that a block is never used. */
static inline void *used(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

#endif
