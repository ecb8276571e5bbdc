/* pprof_wire.h: the fields of a protobuf message, as far as pprof needs them.
 *
 *     tag = field number << 3 | wire type    varint
 *     0: varint   1: 8 bytes   2: length as varint, then bytes   5: 4 bytes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PPROF_WIRE_H
#define ML_PPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varint.h"

enum ml_wire_type { ML_WIRE_VARINT = 0, ML_WIRE_64 = 1, ML_WIRE_BYTES = 2, ML_WIRE_32 = 5 };

/* A message, or the rest of one. */
struct ml_wire {
    const uint8_t *at, *end;
    bool damaged;
};

struct ml_wire_field {
    uint32_t number;
    enum ml_wire_type type;
    uint64_t value;       /* of a varint */
    struct ml_wire bytes; /* of ML_WIRE_BYTES */
};

/* @return false at the end, or where the message is damaged */
static inline bool ml_wire_next(struct ml_wire *w, struct ml_wire_field *ret)
{
    uint64_t tag, len = 0;
    const uint8_t *p;

    if (w->at == w->end || w->damaged)
        return false;
    p = ml_varint_get(w->at, w->end, &tag);
    w->damaged = true; /* until the field proves complete */
    if (!p || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return false;
    ret->number = (uint32_t)(tag >> 3);
    ret->type = (enum ml_wire_type)(tag & 7);
    ret->value = 0;
    switch (tag & 7) {
    case ML_WIRE_VARINT:
        p = ml_varint_get(p, w->end, &ret->value);
        if (!p)
            return false;
        break;
    case ML_WIRE_64: len = 8; break;
    case ML_WIRE_32: len = 4; break;
    case ML_WIRE_BYTES:
        p = ml_varint_get(p, w->end, &len);
        if (!p)
            return false;
        break;
    default: return false;
    }
    if (len > (uint64_t)(w->end - p))
        return false;
    ret->bytes = (struct ml_wire){.at = p, .end = p + len};
    w->at = p + len;
    w->damaged = false;
    return true;
}

/* The next value of a repeated number, packed or not:
 *
 *     struct ml_wire rest = field.bytes;
 *     while (ml_wire_number(&field, &rest, &value)) ...
 *
 * A field that is not packed gives its value once and empties `rest`. */
static inline bool ml_wire_number(struct ml_wire_field *field, struct ml_wire *rest, uint64_t *ret)
{
    const uint8_t *p;

    if (field->type == ML_WIRE_VARINT) {
        *ret = field->value;
        field->type = ML_WIRE_BYTES;
        rest->at = rest->end;
        return true;
    }
    if (rest->at == rest->end || rest->damaged)
        return false;
    p = ml_varint_get(rest->at, rest->end, ret);
    rest->damaged = !p;
    if (p)
        rest->at = p;
    return p != NULL;
}

#endif
