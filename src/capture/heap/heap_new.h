/* heap_new.h: C++ new and delete. heap_real.c calls both functions in its look-up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_NEW_H
#define ML_HEAP_NEW_H

struct link_map;

/* Finds the program's operators, in the objects after our own. */
void ml_new_look_up(const struct link_map *own);

/* Finds out, by calling them, which operators in the allocator's object malloc's hooks will see.
 * Precondition: those hooks lead to the real functions and count. */
void ml_new_settle(const struct link_map *allocator);

#endif
