/* varint.h: integers as bytes, of variable and of fixed length.
 *
 * LEB128: seven bits per byte, low bits first, the top bit set on every byte
 * but the last.
 *
 *      byte 0          byte 1                last byte
 *     +-+---------+   +-+----------+        +-+--------+
 *     |1|bits 0..6|   |1|bits 7..13|  ...   |0|the rest|
 *     +-+---------+   +-+----------+        +-+--------+
 *
 * Zigzag maps signed numbers near zero to small unsigned ones: 0 -1 1 -2 2 ...
 * become 0 1 2 3 4 ... Fixed-length numbers are little-endian at any alignment.
 * Freestanding: no allocation, no stdio, usable inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_VARINT_H
#define ML_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"

/* The most bytes that a 64-bit number takes. */
#define ML_VARINT_MAX 10

/* Write v at p, where ML_VARINT_MAX bytes must be free.
 * @return the position after the last byte written */
static inline uint8_t *ml_varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* Bytes that ml_varint_put writes for v: 1 to ML_VARINT_MAX. */
static inline size_t ml_varint_len(uint64_t v)
{
    size_t len = 1;

    while (v >>= 7)
        len++;
    return len;
}

/* The slow path of ml_varint_get: numbers from 128 up. */
static inline const uint8_t *ml_varint_get_long(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
    uint64_t v = 0;

    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        uint8_t byte = *p++;

        if (shift == 63 && byte > 1)
            return NULL; /* more than 64 bits, or more than ten bytes */
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = v;
            return p;
        }
    }
    return NULL;
}

/* Read a number from [p, end), which may be empty. A number padded with zero
 * bits within ten bytes is accepted.
 * @ret    set on success
 * @return the position after the last byte read; NULL when the bytes end too early, go on for
 *         more than ten, or do not fit 64 bits */
static inline const uint8_t *ml_varint_get(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
    if (ML_LIKELY(p < end && *p < 0x80)) {
        *ret = *p;
        return p + 1;
    }
    return ml_varint_get_long(p, end, ret);
}

static inline uint64_t ml_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t ml_unzigzag(uint64_t v)
{
    return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

static inline uint16_t ml_load_u16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return ML_LE16(v);
}

static inline uint32_t ml_load_u32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return ML_LE32(v);
}

static inline uint64_t ml_load_u64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return ML_LE64(v);
}

static inline void ml_store_u16(void *p, uint16_t v)
{
    v = ML_LE16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void ml_store_u32(void *p, uint32_t v)
{
    v = ML_LE32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void ml_store_u64(void *p, uint64_t v)
{
    v = ML_LE64(v);
    memcpy(p, &v, sizeof(v));
}

#endif
