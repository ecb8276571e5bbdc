/* libraries.h: the objects that the loader has loaded, under the numbers that the collector knows.
 *
 * An object is announced when it is first seen, before a stack that is contained in it; an unloaded
 * object and another that takes its place have different numbers. Forked children inherit the table
 * and announce it again.
 *
 * Precondition of all but announce: the lock of stack.c is held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIBRARIES_H
#define ML_LIBRARIES_H

#include <stdint.h>

#define ML_LIBRARY_PROGRAM 1 /* the number of the program itself */

/* Announces objects that are new since the last look. Returns the number of the look at which
 * something last changed, 0 when nothing could be found out. */
uint32_t ml_libraries_look(void);

/* The same for the objects that contain these frames, without the loader's lock; see code_object.h.
 * @unloads: the number of times that libraries were unloaded */
uint32_t ml_libraries_look_at(const uint64_t *frames, uint32_t n, uint32_t unloads);

/* The number of the object that contains this address as of the last look, 0: none. */
uint32_t ml_libraries_at(uintptr_t address);

/* Its address range. */
struct ml_address_range {
    uintptr_t begin;
    uintptr_t end;
};
struct ml_address_range ml_libraries_range(uint32_t number);

/* Announces all loaded objects again. */
void ml_libraries_announce(void);

#endif
