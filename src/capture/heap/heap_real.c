/* heap_real.c: looks up the real functions in the objects after ours: those of jemalloc or tcmalloc
 * if the program has them, otherwise libc's.
 *
 * Any thread may come first, at any time: from ld.so before a constructor has run, from a library's
 * constructor that holds one of libc's locks, from a signal handler. So neither the look-up nor the
 * recorder's start may take such a lock: not dlsym, pthread_atfork, stdio, nor anything that
 * formats an error. Looking up twice gives the same result, so we have no lock either; a call that
 * comes back here from its own look-up gets memory from heap_boot.h. In practice there is only one
 * thread yet: creating a second takes memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_real.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "heap_boot.h"
#include "heap_start.h"
#include "loaded_symbols.h"

/* In the order of the struct's members, which are all pointers. */
static const char *const names[] = {
    "malloc", "free",    "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
    "valloc", "pvalloc", "mmap",   "mremap",  "munmap",         "dlclose",
};

union table {
    struct ml_heap_real real;
    void *slot[ML_ARRAY_SIZE(names)];
};
_Static_assert(sizeof(union table) == sizeof(struct ml_heap_real), "a name for each member");

struct ml_heap_real ml_real;

static union table found;
static bool found_all;

/* The stage of this thread's look-up, to recognise calls that come back from it. */
static __thread enum { NOT_LOOKING, LOOKING, TRYING } stage;
static __thread unsigned came_in;

unsigned ml_heap_came_in(void)
{
    return came_in;
}

/* A library that was loaded late is the last of all objects. The real functions are then those that
 * the program itself calls. */
static void *look_after(const struct link_map *own, const char *name,
                        const struct link_map **ret_object)
{
    void *at = ml_symbol_after(own, name, ret_object);

    if (at)
        return at;
    at = ml_symbol_after(NULL, name, ret_object);
    return *ret_object == own ? NULL : at;
}

static void find_all(void)
{
    const struct link_map *own = ml_symbols_own_object();
    const struct link_map *allocator = NULL;
    int saved_errno = errno;

    stage = LOOKING;
    for (size_t i = ML_ARRAY_SIZE(names); i--;)
        __atomic_store_n(&found.slot[i], look_after(own, names[i], &allocator), __ATOMIC_RELAXED);
    if (ml_symbol_after(own, names[0], NULL)) { /* otherwise no operator comes to us */
        ml_new_look_up(own);
        stage = TRYING;
        ml_new_settle(allocator); /* malloc's object, looked up last */
    }
    /* Pairs with the acquire load in look_up. */
    __atomic_store_n(&found_all, true, __ATOMIC_RELEASE);
    stage = NOT_LOOKING;
    errno = saved_errno;
}

/* NULL: called by the look-up itself. */
static const struct ml_heap_real *look_up(void)
{
    if (stage == NOT_LOOKING && !__atomic_load_n(&found_all, __ATOMIC_ACQUIRE))
        find_all();
    return stage == LOOKING ? NULL : &found.real;
}

static void install(void)
{
    void **slot = (void **)(void *)&ml_real;

    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++)
        __atomic_store_n(&slot[i], found.slot[i], __ATOMIC_RELEASE);
}

/* NULL: the caller must do without. */
static const struct ml_heap_real *ready(void)
{
    const struct ml_heap_real *real;

    if (!ml_boot_is_relocated())
        return NULL;
    real = look_up();
    if (stage != NOT_LOOKING)
        came_in++;
    else if (ml_heap_start())
        install();
    return real;
}

void ml_heap_ready(void)
{
    ready();
}

/* ---- The targets of ML_REAL until the hooks are ready ------------------------ */

void *ml_first_malloc(size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->malloc(bytes) : ml_boot_alloc(1, bytes);
}

/* Before the real function is known, p is boot memory, which is never freed. */
void ml_first_free(void *p)
{
    const struct ml_heap_real *real = ready();

    if (real)
        real->free(p);
}

void *ml_first_calloc(size_t count, size_t bytes)
{
    const struct ml_heap_real *real = ready();

    if (real)
        return real->calloc(count, bytes);
    return ml_boot_alloc(1, count && bytes > SIZE_MAX / count ? SIZE_MAX : count * bytes);
}

/* The hook handles boot memory: p is NULL while the real function is unknown. */
void *ml_first_realloc(void *p, size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->realloc(p, bytes) : ml_boot_alloc(1, bytes);
}

int ml_first_posix_memalign(void **ret, size_t align, size_t bytes)
{
    const struct ml_heap_real *real = ready();
    void *p;

    if (real)
        return real->posix_memalign(ret, align, bytes);
    p = ml_boot_alloc(align, bytes);
    if (!p)
        return ENOMEM;
    *ret = p;
    return 0;
}

void *ml_first_aligned_alloc(size_t align, size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->aligned_alloc(align, bytes) : ml_boot_alloc(align, bytes);
}

void *ml_first_memalign(size_t align, size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->memalign(align, bytes) : ml_boot_alloc(align, bytes);
}

void *ml_first_valloc(size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->valloc(bytes) : ml_boot_alloc(4096, bytes);
}

void *ml_first_pvalloc(size_t bytes)
{
    const struct ml_heap_real *real = ready();

    return real ? real->pvalloc(bytes) : ml_boot_alloc(4096, (bytes + 4095) & ~(size_t)4095);
}

/* An allocator may call these while it holds its own locks, and a look-up would call it again:
 * these three make the system call, until another call has made the hooks ready. */

void *ml_first_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, addr, bytes, (long)prot, (long)flags, (long)fd, offset);
}

void *ml_first_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
    va_list args;
    void *to;

    va_start(args, flags);
    to = va_arg(args, void *);
    va_end(args);
    return (void *)syscall(SYS_mremap, old, old_bytes, bytes, (long)flags, to);
}

int ml_first_munmap(void *addr, size_t bytes)
{
    return (int)syscall(SYS_munmap, addr, bytes);
}

/* Without libc's function, the library stays loaded. */
int ml_first_dlclose(void *handle)
{
    const struct ml_heap_real *real = ready();

    return real && real->dlclose ? real->dlclose(handle) : 0;
}
