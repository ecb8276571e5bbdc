/* passed_cuda_tensors.c: blocks that PyTorch's caching allocator hands out, which reports them
 * while it holds its lock: a free after the block is back in the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passed_blocks.h"
#include "python_stacks/c10_double.h"

#define CUDA_0 1 /* c10::Device: the type, and above it the index */

void begin_blocks(void)
{
}

uintptr_t take_block(void)
{
    uintptr_t block;

    lock_pool();
    block = pop_block();
    if (block)
        report((void *)block, PASSED_BYTES, 0, 0, CUDA_0);
    unlock_pool();
    return block;
}

void give_block_back(uintptr_t block)
{
    lock_pool();
    push_block(block);
    report((void *)block, -PASSED_BYTES, 0, 0, CUDA_0);
    unlock_pool();
}
