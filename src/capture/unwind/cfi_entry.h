/* cfi_entry.h: finds the entry of `.eh_frame` that describes an instruction.
 *
 * `.eh_frame_hdr` has a sorted table of functions; each leads to an entry (FDE), and that to the
 * description that it shares with others (CIE). Both sections may contain anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CFI_ENTRY_H
#define ML_CFI_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi_bytes.h"

/* The sections of one object in memory. All bytes between begin and end are readable. */
struct ml_cfi_sections {
    uintptr_t header; /* the address of .eh_frame_hdr */
    uintptr_t header_end;
    /* Loaded bytes that contain .eh_frame, whose size the header does not have. */
    uintptr_t loaded;
    uintptr_t loaded_end;
};

struct ml_cfi_entry {
    uint64_t begin; /* the address range of the function */
    uint64_t end;
    struct ml_cfi_bytes start_program;    /* of the CIE */
    struct ml_cfi_bytes function_program; /* of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t pointers; /* their encoding */
    bool has_data;    /* data that we do not need precede the function's program */
    bool is_signal;   /* the frame of a signal */
};

enum ml_cfi_found {
    ML_CFI_FOUND,
    ML_CFI_NO_ENTRY,       /* no entry covers the address */
    ML_CFI_NOT_UNDERSTOOD, /* the sections are damaged, or have a form that is not known */
};

enum ml_cfi_found ml_cfi_find(const struct ml_cfi_sections *sections, uintptr_t address,
                              struct ml_cfi_entry *ret);

#endif
