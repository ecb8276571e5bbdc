/* two_devices.c: more bytes on the host than on a GPU, as while a model is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>

#include "memledger/memledger.h"

#define ADDRESS ((void *)(uintptr_t)0x10000)

int main(void)
{
    memledger_space host = memledger_space_open("cpu", MEMLEDGER_BLOCK, "own");
    memledger_space gpu = memledger_space_open("cuda:0", MEMLEDGER_BLOCK, "own");

    memledger_alloc(host, ADDRESS, 3000);
    memledger_alloc(gpu, ADDRESS, 1000);
    return 0;
}
