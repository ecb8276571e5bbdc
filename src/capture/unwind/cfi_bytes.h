/* cfi_bytes.h: bounded reads of the values in `.eh_frame` and `.eh_frame_hdr`.
 *
 * A read beyond the end returns 0 and marks the reader as failed; the caller checks once, at the
 * end. Any bytes are safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CFI_BYTES_H
#define ML_CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ml_cfi_bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

/* Encodings of pointers, from the Linux Standard Base. */
enum {
    ML_PE_ABSOLUTE = 0x00,
    ML_PE_ULEB = 0x01,
    ML_PE_U16 = 0x02,
    ML_PE_U32 = 0x03,
    ML_PE_U64 = 0x04,
    ML_PE_SLEB = 0x09,
    ML_PE_S16 = 0x0a,
    ML_PE_S32 = 0x0b,
    ML_PE_S64 = 0x0c,
    ML_PE_FORMAT = 0x0f,
    ML_PE_RELATIVE_TO_ITSELF = 0x10,
    ML_PE_RELATIVE_TO_HEADER = 0x30,
    ML_PE_BASE = 0x70,
    ML_PE_INDIRECT = 0x80,
    ML_PE_OMITTED = 0xff,
};

static inline void ml_cfi_skip(struct ml_cfi_bytes *b, uint64_t n)
{
    if (n > (uint64_t)(b->end - b->at)) {
        b->failed = true;
        n = (uint64_t)(b->end - b->at);
    }
    b->at += n;
}

/* The next n bytes, at most 8, as a little-endian number. */
static inline uint64_t ml_cfi_number(struct ml_cfi_bytes *b, unsigned n)
{
    const uint8_t *from = b->at;
    uint64_t value = 0;

    ml_cfi_skip(b, n);
    memcpy(&value, from, (size_t)(b->at - from));
    return b->failed ? 0 : value;
}

static inline uint8_t ml_cfi_byte(struct ml_cfi_bytes *b)
{
    return (uint8_t)ml_cfi_number(b, 1);
}

static inline uint64_t ml_cfi_uleb(struct ml_cfi_bytes *b)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;

    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = ml_cfi_byte(b);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return value;
}

static inline int64_t ml_cfi_sleb(struct ml_cfi_bytes *b)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = ml_cfi_byte(b);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* A value in the format of this encoding, without its base. */
uint64_t ml_cfi_value(struct ml_cfi_bytes *b, uint8_t encoding);

/* A pointer. @header: the address of `.eh_frame_hdr`, for pointers that are relative to it */
uint64_t ml_cfi_pointer(struct ml_cfi_bytes *b, uint8_t encoding, uint64_t header);

#endif
