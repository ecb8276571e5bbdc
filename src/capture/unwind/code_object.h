/* code_object.h: finds the loaded object that contains an instruction, and its unwind data.
 *
 * The loader answers without a lock (_dl_find_object, from glibc 2.35 on). dl_iterate_phdr would
 * take the lock under which the loader changes its list, and another thread may hold that while it
 * waits for this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CODE_OBJECT_H
#define ML_CODE_OBJECT_H

#include <link.h>
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

/* Whether the loader can answer. */
bool ml_code_object_can(void);

/* What dl_iterate_phdr would say about the program, and about the object that contains an address,
 * without its counters. Preconditions as for ml_code_object_at. */
bool ml_code_object_program(struct dl_phdr_info *ret);
bool ml_code_object_info(uintptr_t address, struct dl_phdr_info *ret);

/* @return whether an object contains the address. Precondition: the object, if there is one, stays
 *         loaded meanwhile, as that of a function does that has not returned. */
bool ml_code_object_at(uintptr_t address, struct ml_code_object *ret);

#endif
