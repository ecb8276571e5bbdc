/* torch_layout.h: how large the caching allocator's blocks are.
 *
 * A trace says what was asked for. A block is that, rounded up; and where it was cut
 * from a larger free one, of a segment for large blocks, and the rest would have been
 * 1 MiB or less, it has the rest as well. How much was free follows from the segments and from
 * the blocks that lie there.
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

/* Of one device: its segments that do not expand, and in them the large blocks, until
 * no stream uses them. */
struct ml_torch_layout {
    const struct ml_torch_settings *settings;
    struct ml_torch_spans segments;
    struct ml_torch_spans blocks;
    bool given_up; /* more than any GPU has: sizes are only rounded from here on */
};

/* What the allocator rounds a request up to. */
uint64_t ml_torch_rounded(const struct ml_torch_settings *settings, uint64_t size);

/* The bytes of a block that is being allocated. */
uint64_t ml_torch_block_bytes(const struct ml_torch_layout *l, uint64_t addr, uint64_t size);

int ml_torch_layout_add_segment(struct ml_torch_layout *l, uint64_t addr, uint64_t size);
void ml_torch_layout_remove_segment(struct ml_torch_layout *l, uint64_t addr);
int ml_torch_layout_add_block(struct ml_torch_layout *l, uint64_t addr, uint64_t bytes);
void ml_torch_layout_remove_block(struct ml_torch_layout *l, uint64_t addr);

void ml_torch_layout_release(struct ml_torch_layout *l);

#endif
