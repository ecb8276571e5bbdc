/* page_protection.h: what may be done with a page of this process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PAGE_PROTECTION_H
#define ML_PAGE_PROTECTION_H

#include <stdint.h>

#include "sys.h"

#define ML_PAGE_UNKNOWN (-1L)

/* As the kernel tells it, which reads a long text for it: not for hot paths. Calls
 * nothing that a hook may stand in front of; may change errno.
 * @return bits of PROT_READ, PROT_WRITE, PROT_EXEC; ML_PAGE_UNKNOWN where nothing is
 *         mapped or the kernel does not tell */
long ml_page_protection(uintptr_t address);

#endif
