/* libraries.h: what the loader has loaded, as the collector knows it.
 *
 * An object is announced when it is first seen, before a stack that lies in it;
 * one that is unloaded and another that takes its place have different numbers.
 * The table is inherited by forked children, which announce it again.
 *
 * All but announce: with the lock of stack.c held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIBRARIES_H
#define ML_LIBRARIES_H

#include <stdint.h>

#define ML_LIBRARY_PROGRAM 1 /* the number of the program itself */

/* Announces what is new since the last look. Returns the number of the look at
 * which something last changed, 0 when nothing could be found out. */
uint32_t ml_libraries_look(void);

/* The number of the object that holds this address as of the last look, 0: none. */
uint32_t ml_libraries_at(uintptr_t address);

/* Where it lies. */
struct ml_address_range {
    uintptr_t begin;
    uintptr_t end;
};
struct ml_address_range ml_libraries_range(uint32_t number);

/* Announces all that are loaded, once more. */
void ml_libraries_announce(void);

#endif
