/* heap_new.h: C++ new and delete. Both functions are parts of the lookup in
 * heap_real.c, which says when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_NEW_H
#define ML_HEAP_NEW_H

/* Finds the program's operators. */
void ml_new_look_up(void);

/* Finds out which of them malloc's hooks will see, by calling them. By now those
 * hooks lead to the real functions and count. */
void ml_new_settle(const void *real_malloc);

#endif
