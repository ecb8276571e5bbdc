/* proto_message.h: fields of a protocol buffers message, appended to a buffer. A field is
 * its number and type in one varint, then a varint, or a length and bytes.
 *
 * All return 0 or -ENOMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_PROTO_MESSAGE_H
#define ML_EXPORT_PROTO_MESSAGE_H

#include "varint.h"
#include "vec.h"

enum ml_proto_type { ML_PROTO_VARINT = 0, ML_PROTO_BYTES = 2 };

static inline int ml_proto_varint(struct ml_buf *out, uint64_t value)
{
    uint8_t bytes[ML_VARINT_MAX];

    return ml_buf_append(out, bytes, (size_t)(ml_varint_put(bytes, value) - bytes));
}

/* A number; 0 is left out, since readers take an absent number for 0. */
static inline int ml_proto_u64(struct ml_buf *out, uint32_t field, uint64_t value)
{
    int r = value ? ml_proto_varint(out, (uint64_t)field << 3 | ML_PROTO_VARINT) : 0;

    return r < 0 || !value ? r : ml_proto_varint(out, value);
}

/* Text, a message, or packed numbers. */
static inline int ml_proto_bytes(struct ml_buf *out, uint32_t field, const void *bytes, size_t len)
{
    int r = ml_proto_varint(out, (uint64_t)field << 3 | ML_PROTO_BYTES);

    if (r == 0)
        r = ml_proto_varint(out, len);
    return r < 0 || len == 0 ? r : ml_buf_append(out, bytes, len);
}

#endif
