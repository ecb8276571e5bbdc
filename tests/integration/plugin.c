/* plugin.c: a library that uses memledger.h, to be opened and closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>

#include "memledger/memledger.h"

__attribute__((visibility("default"))) int plugin_record(int number);

/* Returns whether it is being recorded. */
int plugin_record(int number)
{
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "plugin");
    void *block = (void *)(uintptr_t)(0x1000 + number * 16);

    memledger_push("in the plugin");
    memledger_alloc(space, block, 16);
    memledger_free(space, block);
    memledger_pop();
    return memledger_active();
}
