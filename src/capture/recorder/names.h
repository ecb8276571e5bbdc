/* names.h: numbers for strings and spaces, as the collector knows them.
 *
 * A string is announced in the ring of the thread that used it first, before
 * any other thread can learn its number. The tables are inherited by forked
 * children, which announce them again under the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NAMES_H
#define ML_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Call once per program, before the first name. */
void ml_names_init(void);

/* Creates the first table while address space is not limited yet: a program may set itself a narrow
 * limit before its first name. Changes errno. */
void ml_names_reserve(void);

/* The string's number; 0 for NULL and for "". The string is cut at ML_NAME_MAX_BYTES. When the
 * tables are full (3.6 million strings, 224 MiB) or there is no address space, a new string gets
 * the number of ML_OTHER_NAMES and is counted. */
uint32_t ml_name(const char *text);

/* The same for text that does not end in a NUL. */
uint32_t ml_name_bytes(const char *text, size_t bytes);

/* For names that must not be folded: those of devices, spaces and settings. An eighth of the tables
 * is kept back for them. 0 when that is full as well. */
uint32_t ml_name_kept(const char *text);

/* The string with that number, not NUL-terminated; "" for a number that was never assigned. The
 * pointer stays valid. */
const char *ml_name_text(uint32_t number, uint32_t *ret_len);

/* The space's number, from 1; 0 when there are more than ML_SPACE_MAX, which is counted. */
uint32_t ml_space_number(const char *device, uint32_t level, const char *name);

/* Call in a forked child, before its first other record. */
void ml_names_announce(void);

#endif
