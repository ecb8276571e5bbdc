/* late_names.c: first uses a name when its ring is full, then uses it again.
 *
 * Prints "ready", waits for a line; fills the ring, names a scope, prints
 * "named", waits for a line; then allocates 77 bytes in that scope.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "memledger/memledger.h"

static int say_and_wait(const char *word)
{
    char line[16];

    puts(word);
    fflush(stdout);
    return fgets(line, sizeof(line), stdin) != NULL;
}

int main(void)
{
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "blocks");

    memledger_alloc(space, (void *)0x1000, 1);
    if (!say_and_wait("ready"))
        return 2;
    for (int i = 0; i < 200000; i++)
        memledger_alloc(space, (void *)0x2000, 1);
    memledger_push("named while the ring was full");
    memledger_pop();
    if (!say_and_wait("named"))
        return 2;
    /* Enough for the recorder to look at its ring again. */
    for (int i = 0; i < 200000; i++)
        memledger_alloc(space, (void *)0x2000, 1);
    memledger_push("named while the ring was full");
    memledger_alloc(space, (void *)0x3000, 77);
    memledger_pop();
    return 0;
}
