/* index.h: the index at the end of a trace: the offset and time span of each block, and the
 * totals that a report needs first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INDEX_H
#define ML_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "varint.h"

struct ml_index_entry {
    uint64_t offset; /* of the block's header in the file */
    uint64_t first_ns;
    uint64_t last_ns;
    uint32_t stored_bytes;
    uint32_t events;
    uint8_t type;
};

struct ml_index_totals {
    uint64_t events[32]; /* by kind */
    uint64_t lost;
};

#define ML_INDEX_ENTRY_MAX (6 * ML_VARINT_MAX)
#define ML_INDEX_TOTALS_MAX (34 * ML_VARINT_MAX)
#define ML_INDEX_COUNT_MAX ML_VARINT_MAX

/* The block is: count, entries, totals. Each call writes or reads one part and returns the byte
 * after it; the getters return NULL if it is damaged. `previous_offset` is that of the previous
 * entry, 0 for the first. */
uint8_t *ml_index_entry_put(uint8_t *out, const struct ml_index_entry *e, uint64_t previous_offset);
const uint8_t *ml_index_entry_get(const uint8_t *in, const uint8_t *end, uint64_t previous_offset,
                                  struct ml_index_entry *ret);
uint8_t *ml_index_totals_put(uint8_t *out, const struct ml_index_totals *t);
const uint8_t *ml_index_totals_get(const uint8_t *in, const uint8_t *end,
                                   struct ml_index_totals *ret);

#endif
