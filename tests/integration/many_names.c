/* many_names.c: more names and spaces than most programs have.
 *
 *     many_names NAMES SPACES [OBJECTS]
 *
 * Opens SPACES spaces and allocates block 0x1000 in each, 1 byte in the first, 2 in the second
 * and so on; frees those of odd size. Then enters NAMES scopes of different names, one after the
 * other, inside scope "outer", and allocates 1000 bytes in each hundredth, beginning with the
 * first. Last it makes OBJECTS events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "memledger/memledger.h"

static memledger_space open_numbered(unsigned long i)
{
    char name[32];

    snprintf(name, sizeof(name), "space %lu", i);
    return memledger_space_open("cpu", MEMLEDGER_BLOCK, name);
}

int main(int argc, char **argv)
{
    unsigned long names = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long spaces = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long objects = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    memledger_space blocks = memledger_space_open("cpu", MEMLEDGER_BLOCK, "blocks");

    for (unsigned long i = 1; i <= spaces; i++)
        memledger_alloc(open_numbered(i), (void *)0x1000, i);
    for (unsigned long i = 1; i <= spaces; i += 2)
        memledger_free(open_numbered(i), (void *)0x1000);
    memledger_push("outer");
    for (unsigned long i = 0; i < names; i++) {
        char name[32];

        snprintf(name, sizeof(name), "scope %lu", i);
        memledger_push(name);
        if (i % 100 == 0)
            memledger_alloc(blocks, (void *)(uintptr_t)(0x100000 + 4096 * i), 1000);
        memledger_pop();
    }
    memledger_pop();
    for (unsigned long i = 0; i < objects; i++)
        (void)memledger_event("event");
    return 0;
}
