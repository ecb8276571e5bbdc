/* heap_start.h: whether the heap hooks record, and in which spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_START_H
#define ML_HEAP_START_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "turns.h"

/* Numbers of spaces; 0: do not record. Set once, before the hooks' pointers in ml_real point to the
 * real functions; forked children keep them. */
extern uint32_t ml_heap_space;
extern uint32_t ml_map_space;

/* Whether allocations are recorded with their stacks. Set before the spaces. */
extern bool ml_heap_stacks;

/* The space, or 0 while the recording is paused. The recorder has started before the space is
 * set. */
static ML_ALWAYS_INLINE uint32_t ml_heap_now(const uint32_t *space)
{
    uint32_t number = __atomic_load_n(space, __ATOMIC_ACQUIRE);

    return ML_LIKELY(number && !ml_turn_is_paused()) ? number : 0;
}

/* Whether all blocks are recorded, or will be again after a pause. */
static ML_ALWAYS_INLINE bool ml_heap_records_all(void)
{
    return __atomic_load_n(&ml_heap_space, __ATOMIC_ACQUIRE);
}

#define ML_HEAP_SPACE ml_heap_now(&ml_heap_space)
#define ML_MAP_SPACE ml_heap_now(&ml_map_space)
#define ML_HEAP_STACKS __atomic_load_n(&ml_heap_stacks, __ATOMIC_RELAXED)

/* Starts the recorder and opens the spaces that the session asks for. Returns whether that is
 * decided, either way; false: ask again. */
bool ml_heap_start(void);

/* Opens and closes the spaces of a recording that a running process joins. */
void ml_heap_begin_late(void);
void ml_heap_end_late(void);

/* Says on stderr if the program's calls go to another malloc and the hooks see none of them; once
 * per run. */
void ml_heap_notice(void);

#endif
