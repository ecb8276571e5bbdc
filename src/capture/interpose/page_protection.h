/* page_protection.h: the protection of a page of this process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PAGE_PROTECTION_H
#define ML_PAGE_PROTECTION_H

#include <stdint.h>

#include "sys.h"

#define ML_PAGE_UNKNOWN (-1L)

/* Reads /proc/self/maps, which may be long: not for hot paths. Calls no function that a hook may
 * wrap; may change errno.
 * @return bits of PROT_READ, PROT_WRITE, PROT_EXEC; ML_PAGE_UNKNOWN if nothing is mapped there or
 *         the kernel does not say */
long ml_page_protection(uintptr_t address);

#endif
