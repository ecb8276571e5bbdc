/* pickle_value.h: the values of a pickle, eight bytes each.
 *
 *      63                                             4 3    0
 *     +------------------------------------------------+------+
 *     | payload: a number of 60 bits, or an index       |  tag |
 *     +------------------------------------------------+------+
 *
 * Numbers that do not fit are in a table. Texts are interned, so equal texts have equal values.
 * Lists, dicts, tuples and sets are nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PICKLE_VALUE_H
#define ML_PICKLE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t ml_pickle_value;

enum ml_pickle_tag {
    ML_PICKLE_NONE,
    ML_PICKLE_BOOL,
    ML_PICKLE_INT,   /* 60 bits, signed */
    ML_PICKLE_WIDE,  /* an integer of 64 bits, in the table of numbers */
    ML_PICKLE_HUGE,  /* a larger integer; its value is not kept */
    ML_PICKLE_FLOAT, /* in the table of numbers */
    ML_PICKLE_TEXT,
    ML_PICKLE_BYTES,
    ML_PICKLE_NODE,
};

#define ML_PICKLE_TAG_BITS 4

static inline ml_pickle_value ml_pickle_make(enum ml_pickle_tag tag, uint64_t payload)
{
    return payload << ML_PICKLE_TAG_BITS | tag;
}

static inline enum ml_pickle_tag ml_pickle_tag(ml_pickle_value value)
{
    return (enum ml_pickle_tag)(value & ((1u << ML_PICKLE_TAG_BITS) - 1));
}

/* Of a text, bytes, a node, a boolean. */
static inline uint64_t ml_pickle_index(ml_pickle_value value)
{
    return value >> ML_PICKLE_TAG_BITS;
}

enum ml_pickle_kind {
    ML_PICKLE_LIST,
    ML_PICKLE_DICT, /* items: key, value, key, value, ... */
    ML_PICKLE_TUPLE,
    ML_PICKLE_SET,
    ML_PICKLE_TAKEN, /* replaced by the taker: see struct ml_pickle_taker */
};

struct ml_pickle_node {
    union {
        ml_pickle_value *items;
        uint64_t handle; /* of a taken node: set by the taker */
    };
    uint32_t len; /* of a taken node: set by the taker */
    uint8_t kind; /* enum ml_pickle_kind */
    uint8_t sort; /* of a taken node: set by the taker */
};

#endif
