/* column_pack.h: the columns of an events block that are stored in another form than they are
 * collected in: times in larger units, addresses as references to earlier events, sizes as
 * "the same as last time from there".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLUMN_PACK_H
#define ML_COLUMN_PACK_H

#include <stdint.h>

#include "address_finder.h"
#include "block.h"

#define ML_WIDE_MARK 0xffffffffu
#define ML_PREVIOUS_ADDRS 256 /* slots; the low 8 bits of a space's number select one */

struct ml_encoder;

/* Entries that do not fit into 32 bits are ML_WIDE_MARK and in the wide column. */
struct ml_packed_column {
    uint32_t count;
    uint32_t wide_count;
    uint32_t entries[ML_BLOCK_MAX_EVENTS];
    uint64_t wide[ML_BLOCK_MAX_EVENTS];
};

struct ml_packed_columns {
    uint64_t previous[ML_PREVIOUS_ADDRS]; /* addresses that are no references, by space */
    uint32_t alloc_refs;
    uint32_t free_refs;
    uint32_t alloc_ref_col[ML_BLOCK_MAX_EVENTS];
    uint32_t free_ref_col[ML_BLOCK_MAX_EVENTS];
    struct ml_packed_column times;
    struct ml_packed_column addrs;
    struct ml_packed_column sizes;
    struct ml_address_finder finder;
};

/* Fills e->packed from the other columns, which stay as they are.
 * @addr_shift  low zero bits that all addresses share */
void ml_pack_columns(struct ml_encoder *e, unsigned addr_shift);

#endif
