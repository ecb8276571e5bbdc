/* heap_real.h: the functions that the heap hooks stand in front of.
 *
 * A hook calls through ml_real, always. Until the hooks are ready, the pointers
 * there lead to functions that make them ready first, so that the hooks need
 * not ask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_REAL_H
#define ML_HEAP_REAL_H

#include <stddef.h>
#include <sys/types.h>

struct ml_heap_real {
    void *(*malloc)(size_t bytes);
    void (*free)(void *p);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*realloc)(void *p, size_t bytes);
    int (*posix_memalign)(void **ret, size_t align, size_t bytes);
    void *(*aligned_alloc)(size_t align, size_t bytes);
    void *(*memalign)(size_t align, size_t bytes);
    void *(*valloc)(size_t bytes);
    void *(*pvalloc)(size_t bytes);
    void *(*mmap)(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
    void *(*mremap)(void *old, size_t old_bytes, size_t bytes, int flags, ...);
    int (*munmap)(void *addr, size_t bytes);
};

extern struct ml_heap_real ml_real;

/* Pairs with the release stores in heap_real.c: whoever gets the real function
 * also finds the space to record in. */
#define ML_REAL(name) __atomic_load_n(&ml_real.name, __ATOMIC_ACQUIRE)

/* Looks up the real functions and starts recording, if neither is done yet.
 * Called when the library is loaded. Keeps errno. */
void ml_heap_ready(void);

/* How many calls of the malloc family came in from this thread's own lookup. */
unsigned ml_heap_came_in(void);

#endif
