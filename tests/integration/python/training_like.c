/* training_like.c: two steps like those of a training run, through the public header: modules,
 * phases, labels, a block that is never freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memledger/memledger.h"

static memledger_space space;

static void forward(void)
{
    memledger_phase("forward");
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, "Net");
    memledger_push_kind(MEMLEDGER_SCOPE_MODULE, "conv1");
    memledger_alloc(space, (void *)0x20000, 2000);
    memledger_alloc(space, (void *)0x30000, 3000);
    memledger_free(space, (void *)0x30000);
    memledger_pop();
    memledger_pop();
}

static void backward(void)
{
    memledger_phase("backward");
    memledger_push_kind(MEMLEDGER_SCOPE_PHASE, "backward");
    memledger_alloc(space, (void *)0x40000, 4000);
    memledger_free(space, (void *)0x20000);
    memledger_free(space, (void *)0x40000);
    memledger_pop();
    memledger_phase("");
}

int main(void)
{
    space = memledger_space_open("cuda:0", MEMLEDGER_BLOCK, "tensors");
    memledger_alloc(space, (void *)0x10000, 1000);
    memledger_label(space, (void *)0x10000, "conv1.weight", MEMLEDGER_PARAMETER);
    for (unsigned step = 0; step < 2; step++) {
        memledger_step(step);
        forward();
        backward();
    }
    return 0;
}
