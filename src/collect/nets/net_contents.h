/* net_contents.h: what the events of a block are, before its net is made: whether a net can have
 * them, and what later events of the block say about its allocations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_CONTENTS_H
#define ML_COLLECT_NET_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

struct ml_encoder;

/* A bit for each allocation of the block, in order. */
struct ml_net_bits {
    uint64_t words[ML_BLOCK_MAX_EVENTS / 64];
};

static inline bool ml_net_bit(const struct ml_net_bits *bits, uint32_t i)
{
    return bits->words[i / 64] >> i % 64 & 1;
}

/* The space that more than half of the allocations have, if one does. */
uint32_t ml_net_busiest_space(const struct ml_encoder *e);

/* Whether a net whose carried blocks are in that space can have these events. */
bool ml_net_fits(const struct ml_encoder *e, uint32_t space);

/* Finds the allocations that a label or another event of the block names, by the references that
 * the encoder has found. A live table counts the bytes of such a block in its category as soon as
 * it is named, so that it must see the allocation. */
void ml_net_find_named(const struct ml_encoder *e, struct ml_net_bits *ret);

/* Finds the allocations of the space that the block also frees, so that a classification need not
 * see either. It must see blocks that live through the beginnings of two passes (kept_blocks.h):
 * through two marks of one phase. */
void ml_net_find_pairs(const struct ml_encoder *e, uint32_t space, struct ml_net_bits *ret);

#endif
