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

#include "heap_real.h"
#include "heap_seen.h"

void ml_heap_refused(size_t bytes, int error)
{
    uint32_t space = ML_HEAP_SPACE;

    space = space ? space : ML_PART_SPACE;
    if (!space || !bytes || error != ENOMEM)
        return;
    if (ML_HEAP_STACKS)
        ml_call_stack_oom(space, bytes, __builtin_frame_address(0));
    else
        ml_record_oom(space, bytes, 0);
}

/* ---- The most frequent calls --------------------------------------------------- */

/* malloc and free jump to one of two functions: a record needs many registers, and saving them
 * would take most of the time of a call that is not recorded. The hooks jump, so that the caller of
 * either function is the hook's caller. */

static ML_NOINLINE void *malloc_of_all(size_t bytes)
{
    return ml_heap_seen(ML_REAL(malloc)(bytes), bytes);
}

static ML_NOINLINE void free_of_all(void *p)
{
    if (ML_LIKELY(ml_heap_leaves(p)))
        ML_REAL(free)(p);
}

static ML_NOINLINE void *seen_first(void *p, size_t bytes)
{
    return ml_heap_seen(p, bytes);
}

/* The first call of all starts the recorder, and may find that all blocks are recorded. */
static ML_NOINLINE void *malloc_of_part(size_t bytes)
{
    void *p = ML_REAL(malloc)(bytes);

    if (ML_UNLIKELY(!p || ml_heap_records_all()))
        return seen_first(p, bytes);
    if (ML_PART_SPACE && ml_part_wants(bytes))
        ml_part_seen(p, bytes, __builtin_frame_address(0));
    return p;
}

static ML_NOINLINE void free_of_part(void *p)
{
    if (ML_UNLIKELY(!p || ml_boot_owns(p)))
        return;
    if (ML_UNLIKELY(ml_recorded_maybe(p)))
        ml_part_leaves(p);
    ML_REAL(free)(p);
}

ML_HOOK void *malloc(size_t bytes)
{
    return ml_heap_records_all() ? malloc_of_all(bytes) : malloc_of_part(bytes);
}

ML_HOOK void free(void *p)
{
    if (ml_heap_records_all())
        free_of_all(p);
    else
        free_of_part(p);
}

/* ---- The others of the family -------------------------------------------------- */

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

/* The same where only some blocks are recorded: the old one may be, and the new one not. */
static ML_NOINLINE void *resize_part(void *p, size_t bytes, const void *hook)
{
    bool moves = ml_recorded_maybe(p) && ml_part_moves(p);
    void *q = ML_REAL(realloc)(p, bytes);

    if (ML_LIKELY(q != NULL)) {
        if (ml_part_wants(bytes))
            ml_part_seen(q, bytes, hook);
    } else if (bytes) {
        if (moves)
            ml_part_move_failed(p);
        ml_heap_refused(bytes, errno);
    }
    return q;
}

static ML_ALWAYS_INLINE void *realloc_hook(void *p, size_t bytes)
{
    uint32_t space = ML_HEAP_SPACE;

    if (!p)
        return ml_heap_seen(ML_REAL(realloc)(NULL, bytes), bytes);
    if (ML_UNLIKELY(ml_boot_owns(p)))
        return leave_boot(p, bytes);
    if (ML_UNLIKELY(!space) && ML_PART_SPACE)
        return resize_part(p, bytes, __builtin_frame_address(0));
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
    if (!__atomic_load_n(&ml_heap_space, __ATOMIC_RELAXED) && !ML_PART_SPACE)
        return;
    ml_heap_notice();
    if (ML_HEAP_STACKS)
        ml_call_stack_loaded();
}
