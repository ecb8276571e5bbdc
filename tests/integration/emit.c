/* emit.c: records a given number of events, in steps that a test paces.
 *
 *     emit COUNT...
 *
 * Before each COUNT but the first it prints "N" (events so far) and waits for a
 * line on its input; at the end it prints "done N". Blocks come and go in pairs,
 * at addresses that compress badly, so that a small disk is full soon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "memledger/memledger.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

int main(int argc, char **argv)
{
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "emitted");
    unsigned long total = 0;
    void *block = NULL;
    char line[16];

    for (int i = 1; i < argc; i++) {
        if (i > 1) {
            printf("%lu\n", total);
            fflush(stdout);
            if (!fgets(line, sizeof(line), stdin))
                return 2;
        }
        for (unsigned long n = strtoul(argv[i], NULL, 10); n; n--, total++) {
            if (total % 2) {
                memledger_free(space, block);
            } else {
                block = (void *)(uintptr_t)((random_number() & 0xffffffffff) << 4 | 0x100000000000);
                memledger_alloc(space, block, random_number() % 100000);
            }
        }
    }
    printf("done %lu\n", total);
    return 7;
}
