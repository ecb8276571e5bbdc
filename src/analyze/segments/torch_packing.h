/* torch_packing.h: the sizes of PyTorch's CUDA caching allocator, and the memory that it would
 * need from the driver for a set of blocks after a fresh start.
 *
 * A block of at most 1 MiB is in a segment of 2 MiB, one below 10 MiB in a segment of 20 MiB, and
 * a larger one in a separate segment, rounded up to 2 MiB. Blocks are laid out largest first,
 * each where it leaves the least room. With expandable segments only the two kinds stay separate,
 * in pages of 2 and 20 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TORCH_PACKING_H
#define ML_ANALYZE_TORCH_PACKING_H

#include <stdbool.h>
#include <stdint.h>

#define ML_TORCH_SMALL_BLOCK (UINT64_C(1) << 20)    /* the largest in a small segment */
#define ML_TORCH_SMALL_SEGMENT (UINT64_C(2) << 20)  /* larger ones are rounded up to it */
#define ML_TORCH_LARGE_BLOCK (UINT64_C(10) << 20)   /* the smallest with a separate segment */
#define ML_TORCH_LARGE_SEGMENT (UINT64_C(20) << 20) /* shared by smaller blocks */

/* Whether the space belongs to that allocator: "torch", "torch pool 1.0" on "cuda:0". */
bool ml_torch_is_caching(const char *device, const char *space);

/* The size of the block that it gives for a request. */
uint64_t ml_torch_rounded_bytes(uint64_t request);

/* The bytes that it requests from the driver for a request that fits no hole. */
uint64_t ml_torch_segment_bytes(uint64_t request);

/* The largest request that it can serve with this many bytes from the driver; 0: none. */
uint64_t ml_torch_largest_request(uint64_t driver_bytes);

/* The largest request that a hole in a segment of that size can serve. */
uint64_t ml_torch_hole_serves(uint64_t hole, uint64_t segment_bytes);

/* Blocks counted by size, so that their number does not matter. */
struct ml_torch_packing {
    uint64_t *counts; /* of shared segments, by units */
    uint64_t *rooms;  /* used during the layout */
    uint64_t small_bytes, large_bytes;
    uint64_t own_segments; /* bytes of segments with one block each */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_torch_packing_init(struct ml_torch_packing *packing);
void ml_torch_packing_release(struct ml_torch_packing *packing);
void ml_torch_packing_add(struct ml_torch_packing *packing, uint64_t bytes);

/* The bytes of segments for all added blocks. */
uint64_t ml_torch_packed_bytes(struct ml_torch_packing *packing);
uint64_t ml_torch_expandable_bytes(const struct ml_torch_packing *packing);

#endif
