/* heap_real.h: the functions that the heap hooks wrap.
 *
 * A hook always calls ML_REAL. Until the hooks are ready, that is a function which makes them ready
 * first, so that the hooks need not check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_REAL_H
#define ML_HEAP_REAL_H

#include <stddef.h>
#include <sys/types.h>

#include "compiler.h"

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
    int (*dlclose)(void *handle);
};

/* All NULL until the hooks are ready. An initializer would not be applied yet when the loader,
 * which relocates this library late, calls functions of libraries that it has relocated before, and
 * these call malloc. */
extern struct ml_heap_real ml_real;

void *ml_first_malloc(size_t bytes);
void ml_first_free(void *p);
void *ml_first_calloc(size_t count, size_t bytes);
void *ml_first_realloc(void *p, size_t bytes);
int ml_first_posix_memalign(void **ret, size_t align, size_t bytes);
void *ml_first_aligned_alloc(size_t align, size_t bytes);
void *ml_first_memalign(size_t align, size_t bytes);
void *ml_first_valloc(size_t bytes);
void *ml_first_pvalloc(size_t bytes);
void *ml_first_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
void *ml_first_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...);
int ml_first_munmap(void *addr, size_t bytes);
int ml_first_dlclose(void *handle);

/* Pairs with the release stores in heap_real.c: a thread that reads the real function also sees the
 * space to record in. */
#define ML_REAL(name) ML_OR(__atomic_load_n(&ml_real.name, __ATOMIC_ACQUIRE), ml_first_##name)

/* Looks up the real functions and starts recording, if neither is done yet.
 * Called when the library is loaded. Keeps errno. */
void ml_heap_ready(void);

/* The number of calls of the malloc family that came from this thread's own look-up. */
unsigned ml_heap_came_in(void);

/* The two parts of the look-up for C++ new and delete (heap_new.c). The first finds the program's
 * operators, in the objects after our own. The second finds out, by calling them, which operators
 * in the allocator's object malloc's hooks will see. Precondition of the second: those hooks lead
 * to the real functions and count. */
struct link_map;
void ml_new_look_up(const struct link_map *own);
void ml_new_settle(const struct link_map *allocator);

#endif
