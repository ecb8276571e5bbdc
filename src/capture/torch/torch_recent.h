/* torch_recent.h: the last blocks that this thread allocated on a GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_RECENT_H
#define ML_TORCH_RECENT_H

#include <stdint.h>

#include "compiler.h"

#define ML_TORCH_RECENT_BLOCKS 4

struct ml_torch_recent {
    const void *blocks[ML_TORCH_RECENT_BLOCKS];
    uint32_t spaces[ML_TORCH_RECENT_BLOCKS];
    uint32_t next;
};

extern __thread struct ml_torch_recent ml_torch_recent;

static ML_ALWAYS_INLINE void ml_torch_remember(uint32_t space, const void *block)
{
    uint32_t at = ml_torch_recent.next++ % ML_TORCH_RECENT_BLOCKS;

    ml_torch_recent.blocks[at] = block;
    ml_torch_recent.spaces[at] = space;
}

#endif
