/* heap_new.h: C++ new and delete. Both functions are parts of the lookup in
 * heap_real.c, which says when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_NEW_H
#define ML_HEAP_NEW_H

struct link_map;

/* Finds the program's operators, in the objects after our own. */
void ml_new_look_up(const struct link_map *own);

/* Finds out which of those in the allocator's object malloc's hooks will see, by calling them.
 * By now those hooks lead to the real functions and count. */
void ml_new_settle(const struct link_map *allocator);

#endif
