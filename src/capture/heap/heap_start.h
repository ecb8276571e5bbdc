/* heap_start.h: whether the heap hooks record, and in which spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_START_H
#define ML_HEAP_START_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of spaces; 0: do not record. Set once, before the hooks' pointers in ml_real point to the
 * real functions; forked children keep them. */
extern uint32_t ml_heap_space;
extern uint32_t ml_map_space;

/* Whether allocations are recorded with their stacks. Set before the spaces. */
extern bool ml_heap_stacks;

#define ML_HEAP_SPACE __atomic_load_n(&ml_heap_space, __ATOMIC_RELAXED)
#define ML_MAP_SPACE __atomic_load_n(&ml_map_space, __ATOMIC_RELAXED)
#define ML_HEAP_STACKS __atomic_load_n(&ml_heap_stacks, __ATOMIC_RELAXED)

/* Starts the recorder and opens the spaces that the session asks for. Returns whether that is
 * decided, either way; false: ask again. */
bool ml_heap_start(void);

/* Says on stderr if the program's calls go to another malloc and the hooks see none of them; once
 * per run. */
void ml_heap_notice(void);

#endif
