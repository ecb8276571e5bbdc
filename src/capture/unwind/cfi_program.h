/* cfi_program.h: runs the program of an `.eh_frame` entry up to an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CFI_PROGRAM_H
#define ML_CFI_PROGRAM_H

#include <stdint.h>

#include "cfi_entry.h"
#include "unwind_row.h"

/* The row for an address in the entry's range: ML_CFA_COMPLEX if a row cannot express the result,
 * or the program is damaged. Takes time in proportion to the program's length, a few dozen bytes
 * for most functions. Any bytes are safe. */
struct ml_unwind_row ml_cfi_run(const struct ml_cfi_entry *entry, uintptr_t address);

#endif
