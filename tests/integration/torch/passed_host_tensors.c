/* passed_host_tensors.c: blocks that PyTorch's allocator of the host hands out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passed_blocks.h"
#include "passed_tensors.h"

static void *take(void)
{
    return (void *)take_from_pool();
}

static void give_back(void *block)
{
    put_into_pool((uintptr_t)block);
}

void begin_blocks(void)
{
    host_take = take;
    host_give_back = give_back;
}

uintptr_t take_block(void)
{
    return (uintptr_t)alloc_cpu(PASSED_BYTES);
}

void give_block_back(uintptr_t block)
{
    free_cpu((void *)block);
}
