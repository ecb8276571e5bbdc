/* record_words.h: the words of the record that a source is at, and translation of the
 * target's numbers in them.
 *
 * Targets are not trusted and can change a word while it is read. So each word is read
 * once (ml_ring_word): the words that decide on a record's length by ml_source_peek, the rest by
 * ml_source_take, which copies the record. All other code reads the copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORD_WORDS_H
#define ML_RECORD_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "target.h"

/* Of shared memory. Atomic, so that the compiler does not read it again when it is used. */
static inline uint64_t ml_ring_word(const struct ml_source *s, unsigned i)
{
    return __atomic_load_n(&s->data[(s->tail + i) & s->mask], __ATOMIC_RELAXED);
}

/* Of the copy. Precondition: i < s->words. */
static inline uint64_t ml_word(const struct ml_source *s, unsigned i)
{
    return s->record[i];
}

static inline uint32_t ml_high(uint64_t pair)
{
    return (uint32_t)(pair >> 32);
}

static inline uint32_t ml_low(uint64_t pair)
{
    return (uint32_t)pair;
}

/* The target's number of the record's space; 0: it has none. */
static inline uint32_t ml_space_in(const struct ml_source *s)
{
    uint32_t number = s->first >> 8 & 0xff;

    return ML_LIKELY(number < ML_SPACE_WIDE) ? number : (uint32_t)ml_word(s, s->words - 1);
}

/* The trace's number of a target's string. */
static inline uint32_t ml_target_string(const struct ml_target *t, uint32_t number)
{
    return number < t->strings.len ? t->strings.items[number] : 0;
}

/* Whether the second word of such a record says how long it is. */
static inline bool ml_has_own_length(unsigned kind)
{
    return kind == ML_REC_STRING || kind == ML_REC_STACK || kind == ML_REC_RING_STACK ||
           kind == ML_REC_PYTHON_STACK;
}

/* Makes entry `number` of a table of numbers; false when it is out of bounds. */
#define ml_table_reach(table, number, limit)                                                       \
    ({                                                                                             \
        bool fits = (number) < (limit);                                                            \
        while (fits && (table)->len <= (number))                                                   \
            fits = !ml_vec_push((table), (__typeof__(*(table)->items)){0});                        \
        fits;                                                                                      \
    })

#endif
