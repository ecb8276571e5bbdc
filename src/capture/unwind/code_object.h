/* code_object.h: finds the loaded object that contains an instruction, and its unwind data.
 *
 * From glibc 2.35 on the loader answers without a lock (_dl_find_object). An older one, or one that
 * has loaded the object in separate pieces, is asked with dl_iterate_phdr, which takes the lock
 * under which it changes its list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CODE_OBJECT_H
#define ML_CODE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi_entry.h"

struct ml_code_object {
    uintptr_t code; /* loaded, readable bytes that contain the instruction */
    uintptr_t code_end;
    struct ml_cfi_sections cfi; /* header 0: it has no unwind data */
};

/* Finds out how to ask the loader. Call once, when no other thread can load libraries: see
 * ml_symbol_after. */
void ml_code_object_init(void);

/* @return whether an object contains the address. Precondition: the object, if there is one, stays
 *         loaded meanwhile, as that of a function does that has not returned. */
bool ml_code_object_at(uintptr_t address, struct ml_code_object *ret);

#endif
