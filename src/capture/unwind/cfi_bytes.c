/* cfi_bytes.c: see cfi_bytes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cfi_bytes.h"

uint64_t ml_cfi_value(struct ml_cfi_bytes *b, uint8_t encoding)
{
    switch (encoding & ML_PE_FORMAT) {
    case ML_PE_ABSOLUTE:
    case ML_PE_U64:
    case ML_PE_S64: return ml_cfi_number(b, 8);
    case ML_PE_ULEB: return ml_cfi_uleb(b);
    case ML_PE_SLEB: return (uint64_t)ml_cfi_sleb(b);
    case ML_PE_U16: return ml_cfi_number(b, 2);
    case ML_PE_U32: return ml_cfi_number(b, 4);
    case ML_PE_S16: return (uint64_t)(int16_t)ml_cfi_number(b, 2);
    case ML_PE_S32: return (uint64_t)(int32_t)ml_cfi_number(b, 4);
    default: b->failed = true; return 0;
    }
}

uint64_t ml_cfi_pointer(struct ml_cfi_bytes *b, uint8_t encoding, uint64_t header)
{
    uint64_t here = (uintptr_t)b->at;
    uint64_t value = ml_cfi_value(b, encoding);

    switch (encoding & (ML_PE_BASE | ML_PE_INDIRECT)) {
    case ML_PE_ABSOLUTE: return value;
    case ML_PE_RELATIVE_TO_ITSELF: return here + value;
    case ML_PE_RELATIVE_TO_HEADER: return header + value;
    default: b->failed = true; return 0;
    }
}
