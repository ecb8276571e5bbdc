/* torch_packing.h: the sizes of PyTorch's CUDA caching allocator, and how much it would
 * have to take from the driver to hold a set of blocks from a fresh start.
 *
 * A block of at most 1 MiB lies in a segment of 2 MiB, one below 10 MiB in one of 20 MiB,
 * a larger one in a segment of its own, rounded up to 2 MiB. Blocks are laid out the
 * largest first, each where the least is left behind it. With expandable segments only
 * the two kinds stay apart, in pages of 2 and 20 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TORCH_PACKING_H
#define ML_ANALYZE_TORCH_PACKING_H

#include <stdbool.h>
#include <stdint.h>

#define ML_TORCH_SMALL_BLOCK (UINT64_C(1) << 20)    /* the largest in a small segment */
#define ML_TORCH_SMALL_SEGMENT (UINT64_C(2) << 20)  /* and what larger ones are rounded to */
#define ML_TORCH_LARGE_BLOCK (UINT64_C(10) << 20)   /* the first that has its own segment */
#define ML_TORCH_LARGE_SEGMENT (UINT64_C(20) << 20) /* that others share */

/* Whether a space is one of that allocator's: "torch", "torch pool 1.0" on "cuda:0". */
bool ml_torch_is_caching(const char *device, const char *space);

/* What it asks the driver for when a request finds no room. */
uint64_t ml_torch_segment_bytes(uint64_t request);

/* The largest request that it can serve with so much from the driver; 0: none. */
uint64_t ml_torch_largest_request(uint64_t driver_bytes);

/* The largest request that a hole of a segment of that size serves. */
uint64_t ml_torch_hole_serves(uint64_t hole, uint64_t segment_bytes);

/* Blocks by size, whatever their number. */
struct ml_torch_packing {
    uint64_t *counts; /* of shared segments, by units */
    uint64_t *rooms;  /* while it is laid out */
    uint64_t small_bytes, large_bytes;
    uint64_t own_segments; /* bytes of those with one block each */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_torch_packing_init(struct ml_torch_packing *packing);
void ml_torch_packing_release(struct ml_torch_packing *packing);
void ml_torch_packing_add(struct ml_torch_packing *packing, uint64_t bytes);

/* Bytes of segments for all that was added. */
uint64_t ml_torch_packed_bytes(struct ml_torch_packing *packing);
uint64_t ml_torch_expandable_bytes(const struct ml_torch_packing *packing);

#endif
