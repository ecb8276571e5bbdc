/* fuzz_cfi.c: any bytes as the unwind data of a loaded object: each address gets a row, and nothing
 * outside of the bytes is read.
 *
 * An input is the distance from the data to the code, in 8 bytes, then .eh_frame_hdr and .eh_frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include "cfi_entry.h"
#include "cfi_program.h"

#define ADDRESSES 512

static void look_up(const struct ml_cfi_sections *sections, uintptr_t address)
{
    struct ml_cfi_entry entry;
    struct ml_unwind_row row;

    if (ml_cfi_find(sections, address, &entry) != ML_CFI_FOUND)
        return;
    FUZZ_REQUIRE(address >= entry.begin && address < entry.end);
    row = ml_cfi_run(&entry, address);
    FUZZ_REQUIRE(row.cfa != ML_CFA_UNKNOWN && row.cfa <= ML_CFA_COMPLEX);
    FUZZ_REQUIRE(row.fp <= ML_FP_AT_FP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ml_cfi_sections sections;
    uint64_t distance;
    uint8_t *copy;

    if (len < sizeof(distance))
        return 0;
    memcpy(&distance, data, sizeof(distance));
    len -= sizeof(distance);
    copy = malloc(len ? len : 1); /* no longer: a sanitizer sees reads beyond it */
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, data + sizeof(distance), len);
    sections = (struct ml_cfi_sections){(uintptr_t)copy, (uintptr_t)copy + len, (uintptr_t)copy,
                                        (uintptr_t)copy + len};
    for (size_t i = 0; i < ADDRESSES; i++)
        look_up(&sections, sections.header + distance + 5 * i);
    free(copy);
    return 0;
}
