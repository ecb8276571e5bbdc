/* torch_layout.h: the sizes of the caching allocator's blocks.
 *
 * A trace has the requested sizes. A block's size is the request rounded up. If it was split
 * from a larger free block in a segment for large blocks, and the rest would have been 1 MiB or
 * less, it also contains the rest. The segments and their blocks show how much was free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_LAYOUT_H
#define ML_TORCH_LAYOUT_H

#include "torch_snapshot.h"

struct ml_torch_span {
    uint64_t start, end;
};

struct ml_torch_spans {
    ML_VEC(struct ml_torch_span) list; /* by start */
};

/* One device's segments that are not expandable, and their large blocks until no stream uses
 * them. */
struct ml_torch_layout {
    const struct ml_torch_settings *settings;
    struct ml_torch_spans segments;
    struct ml_torch_spans blocks;
    bool given_up; /* too many blocks: from here on sizes are only rounded */
};

/* The size to which the allocator rounds a request up. */
uint64_t ml_torch_rounded(const struct ml_torch_settings *settings, uint64_t size);

/* The size of a block that is being allocated. */
uint64_t ml_torch_block_bytes(const struct ml_torch_layout *l, uint64_t addr, uint64_t size);

int ml_torch_layout_add_segment(struct ml_torch_layout *l, uint64_t addr, uint64_t size);
void ml_torch_layout_remove_segment(struct ml_torch_layout *l, uint64_t addr);
int ml_torch_layout_add_block(struct ml_torch_layout *l, uint64_t addr, uint64_t bytes);
void ml_torch_layout_remove_block(struct ml_torch_layout *l, uint64_t addr);

void ml_torch_layout_release(struct ml_torch_layout *l);

#endif
