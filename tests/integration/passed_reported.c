/* passed_reported.c: blocks that a program reports itself, after it has taken them and before it
 * gives them back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memledger/memledger.h"
#include "passed_blocks.h"

static memledger_space space;

void begin_blocks(void)
{
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "passed on");
}

uintptr_t take_block(void)
{
    uintptr_t block = take_from_pool();

    if (block)
        memledger_alloc(space, (void *)block, PASSED_BYTES);
    return block;
}

void give_block_back(uintptr_t block)
{
    memledger_free(space, (void *)block);
    put_into_pool(block);
}
