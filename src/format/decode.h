/* decode.h: decode the columns of one events block into events.
 *
 * Trusts nothing: every count and every read is checked against the available bytes. No memory
 * is allocated; the decoder points into the raw block and to a model, which must outlive it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DECODE_H
#define ML_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "address_model.h"
#include "block.h"
#include "encode.h"
#include "event.h"

/* A column of the raw block: `next` of `count` entries were taken. In a column
 * of planes byte k of entry i is data[k * count + i]. */
struct ml_column_reader {
    const uint8_t *data;
    uint32_t count;
    uint32_t next;
};

struct ml_decoder {
    struct ml_column_reader cols[ML_COLUMNS];
    struct ml_address_model *model; /* NULL in layout 0, which has no references */
    unsigned shift;
    unsigned time_shift;
    uint64_t time_ns;
    uint64_t last_ns;
    uint32_t thread;
    uint32_t space;
    uint32_t scope;
    uint64_t previous[ML_PREVIOUS_ADDRS];
};

/* `raw` points to the header's raw_bytes, decompressed. `model` is room for what the events so far
 * say about those that follow; it may be uninitialised. Returns 0, or -1 if the columns do not
 * fill the bytes exactly. */
int ml_decoder_init(struct ml_decoder *d, const struct ml_block_header *header, const uint8_t *raw,
                    struct ml_address_model *model);

/* Decodes up to `room` events. Returns their number, 0 at the end of the
 * block, -1 if the block contradicts itself. */
int ml_decoder_next(struct ml_decoder *d, struct ml_event *events, int room);

#endif
