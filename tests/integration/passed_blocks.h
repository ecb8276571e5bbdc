/* passed_blocks.h: what pass_blocks.c has, and how it reports its blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PASSED_BLOCKS_H
#define PASSED_BLOCKS_H

#include <stdint.h>

#define PASSED_BYTES 64

/* The pool of pass_blocks.c. A block of 0: it is empty. */
uintptr_t take_from_pool(void);
void put_into_pool(uintptr_t block);

/* The same in steps. Precondition of pop_block and push_block: the caller has locked the pool. */
void lock_pool(void);
void unlock_pool(void);
uintptr_t pop_block(void);
void push_block(uintptr_t block);

/* Of the one who reports. take_block returns 0 if the pool is empty. */
void begin_blocks(void);
uintptr_t take_block(void);
void give_block_back(uintptr_t block);

#endif
