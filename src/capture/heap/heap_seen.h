/* heap_seen.h: how heap hooks record. Inline, because each of them runs millions of times a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_SEEN_H
#define ML_HEAP_SEEN_H

#include <errno.h>

#include "call_stack.h"
#include "heap_boot.h"
#include "heap_part.h"
#include "heap_start.h"
#include "record.h"
#include "recorded_blocks.h"

/* For functions that programs find instead of the real ones. */
#define ML_HOOK __attribute__((visibility("default")))

/* Records that there was no memory, unless the call failed for another reason: `error` says
 * which. Keeps errno, and touches no memory but the ring. */
ML_NOINLINE void ml_heap_refused(size_t bytes, int error);

/* Inlined into a hook, whose caller is asked for. */
static ML_ALWAYS_INLINE void ml_heap_record(uint32_t space, const void *p, size_t bytes)
{
    if (ML_UNLIKELY(ML_HEAP_STACKS))
        ml_call_stack_alloc(space, p, bytes, __builtin_frame_address(0));
    else
        ml_record_alloc(space, p, bytes);
}

/* Call after the real call: p is its result, perhaps NULL. Returns p. */
static ML_ALWAYS_INLINE void *ml_heap_seen(void *p, size_t bytes)
{
    uint32_t space = ML_HEAP_SPACE;

    if (ML_LIKELY(space && p))
        ml_heap_record(space, p, bytes);
    else if (ML_UNLIKELY(!p))
        ml_heap_refused(bytes, errno);
    else if (ML_PART_SPACE && ml_part_wants(bytes))
        ml_part_seen(p, bytes, __builtin_frame_address(0));
    return p;
}

/* Call before the real call. Returns whether to make it. */
static ML_ALWAYS_INLINE bool ml_heap_leaves(const void *p)
{
    uint32_t space = ML_HEAP_SPACE;

    if (ML_UNLIKELY(!p || ml_boot_owns(p)))
        return false;
    if (ML_LIKELY(space))
        ml_record_free(space, p);
    else if (ML_UNLIKELY(ml_recorded_maybe(p)))
        ml_part_leaves(p);
    return true;
}

#endif
