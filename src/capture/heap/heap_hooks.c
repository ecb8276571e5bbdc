/* heap_hooks.c: the malloc family, which wraps the program's allocator.
 *
 * Allocations are recorded after the real call and frees before it, so that an address never
 * appears to be allocated twice. The recorded size is the requested one. The hooks keep the errno
 * of the real function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "call_stack.h"
#include "heap_real.h"
#include "heap_seen.h"

void ml_heap_refused(size_t bytes, int error)
{
    uint32_t space = ML_HEAP_SPACE;

    if (space && bytes && error == ENOMEM)
        ml_record_oom(space, bytes, ML_HEAP_STACKS ? ml_call_stack(__builtin_frame_address(0)) : 0);
}

void ml_heap_record_stack(uint32_t space, const void *p, size_t bytes, const void *hook)
{
    ml_record_alloc_stack(space, (uintptr_t)p, bytes, ml_call_stack(hook));
}

ML_HOOK void *malloc(size_t bytes)
{
    return ml_heap_seen(ML_REAL(malloc)(bytes), bytes);
}

ML_HOOK void free(void *p)
{
    if (ML_LIKELY(ml_heap_leaves(p)))
        ML_REAL(free)(p);
}

static ML_NOINLINE size_t product(size_t count, size_t bytes)
{
    size_t all;

    return __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all;
}

/* If there was memory, the product did not overflow. */
ML_HOOK void *calloc(size_t count, size_t bytes)
{
    void *p = ML_REAL(calloc)(count, bytes);

    return ml_heap_seen(p, ML_LIKELY(p != NULL) ? count * bytes : product(count, bytes));
}

/* ---- Resizing --------------------------------------------------------------- */

static ML_NOINLINE void *leave_boot(void *p, size_t bytes)
{
    void *q = bytes ? ml_heap_seen(ML_REAL(malloc)(bytes), bytes) : NULL;

    if (q)
        ml_boot_copy(q, p, bytes);
    return q;
}

/* Records the move first, because another thread may get the old address while the real function
 * runs. Size 0 with result NULL is a free, which has been recorded by then. */
static ML_ALWAYS_INLINE void *resize(uint32_t space, void *p, size_t bytes)
{
    void *q;

    ml_record_move(space, p);
    q = ML_REAL(realloc)(p, bytes);
    if (ML_LIKELY(q != NULL))
        ml_heap_record(space, q, bytes);
    else if (bytes) {
        ml_record_move_failed(space, p);
        ml_heap_refused(bytes, errno);
    }
    return q;
}

static void *realloc_hook(void *p, size_t bytes)
{
    uint32_t space = ML_HEAP_SPACE;

    if (!p)
        return ml_heap_seen(ML_REAL(realloc)(NULL, bytes), bytes);
    if (ML_UNLIKELY(ml_boot_owns(p)))
        return leave_boot(p, bytes);
    if (ML_UNLIKELY(!space))
        return ML_REAL(realloc)(p, bytes);
    return resize(space, p, bytes);
}

ML_HOOK void *realloc(void *p, size_t bytes)
{
    return realloc_hook(p, bytes);
}

/* libc's reallocarray calls realloc, which may or may not reach our hook, depending on the libc. */
ML_HOOK void *reallocarray(void *p, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc_hook(p, all);
}

/* ---- Aligned ----------------------------------------------------------------- */

ML_HOOK int posix_memalign(void **ret, size_t align, size_t bytes)
{
    int error = ML_REAL(posix_memalign)(ret, align, bytes);

    if (ML_LIKELY(!error))
        ml_heap_seen(*ret, bytes);
    else
        ml_heap_refused(bytes, error);
    return error;
}

ML_HOOK void *aligned_alloc(size_t align, size_t bytes)
{
    return ml_heap_seen(ML_REAL(aligned_alloc)(align, bytes), bytes);
}

ML_HOOK void *memalign(size_t align, size_t bytes)
{
    return ml_heap_seen(ML_REAL(memalign)(align, bytes), bytes);
}

ML_HOOK void *valloc(size_t bytes)
{
    return ml_heap_seen(ML_REAL(valloc)(bytes), bytes);
}

ML_HOOK void *pvalloc(size_t bytes)
{
    return ml_heap_seen(ML_REAL(pvalloc)(bytes), bytes);
}

/* ---- Start --------------------------------------------------------------------- */

__attribute__((constructor)) static void start_at_load(void)
{
    ml_heap_ready();
    if (ML_HEAP_SPACE)
        ml_heap_notice();
}
