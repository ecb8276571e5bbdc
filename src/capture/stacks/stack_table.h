/* stack_table.h: the numbers of native stacks that are rare, the same for all threads; those of
 * malloc are in ring_stacks.h.
 *
 * A stack is announced to the collector once, before any thread can learn its number. When a
 * library is unloaded, the same return addresses can come to mean something else. A stack therefore
 * stores which libraries it was in, and the last look (libraries.h) at which that was true. After a
 * change of the loader's list it is checked again, and announced again if it is still true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_TABLE_H
#define ML_STACK_TABLE_H

#include <stdint.h>

#include "compiler.h"

/* The hash of a stack from that of its callers, 0 for none, and the address of its innermost frame.
 */
static ML_ALWAYS_INLINE uint64_t ml_stack_hash(uint64_t callers, uint64_t frame)
{
    uint64_t mixed = (callers ^ frame) * UINT64_C(0x9e3779b97f4a7c15);

    return mixed ^ mixed >> 32;
}

/* The same for all frames, innermost first. */
uint64_t ml_stack_hash_all(const uint64_t *frames, uint32_t n);

/* The stack's number, a new one if necessary. 0: there is no room, which is counted. Precondition:
 * the lock of stack.c is held, and the last look had the number `look`; 0: it found nothing out. */
uint32_t ml_stack_table_number(const uint64_t *frames, uint32_t n, uint32_t look);

/* A number for a stack of any kind, all from one sequence. 0: there are too many. */
uint32_t ml_stack_new_number(void);

/* Announces the stacks that may still occur, and their libraries. */
void ml_stack_table_announce(void);

#endif
