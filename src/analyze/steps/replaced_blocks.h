/* replaced_blocks.h: blocks of one group that take the place of another's, such as the entries of a
 * cache that the program fills in one function and replaces in another: the one group grows and
 * the other shrinks, and memory does not grow. Only leaks.c includes it.
 *
 * Blocks match if they are of one space and one size, and if one is allocated in the step in which
 * the other is freed, or in the step before or after. A group that shrinks gives no more than it
 * lost over all steps, so that one whose number of blocks varies does not hide a leak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLACED_BLOCKS_H
#define ML_ANALYZE_REPLACED_BLOCKS_H

#include "leak_book.h"

/* Takes such blocks out of the book's changes, in steps after the warm-up.
 * @return 0 or -ENOMEM */
int ml_leak_replaced(struct ml_leak_book *book, uint64_t warm_up);

#endif
