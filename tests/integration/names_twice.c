/* names_twice.c: allocates a block of N bytes in a scope called "name N", for N from 1 to the
 * number given, and once more for the same names. Every 100th name is 1,000 bytes long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"

#define LONG_BYTES 1000

static void name_of(unsigned n, char name[LONG_BYTES + 1])
{
    int len = sprintf(name, "name %u ", n);

    if (n % 100 == 0) {
        memset(name + len, '.', LONG_BYTES - (size_t)len);
        name[LONG_BYTES] = '\0';
    }
}

int main(int argc, char **argv)
{
    unsigned names = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    memledger_space space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "blocks");
    char name[LONG_BYTES + 1];

    for (unsigned i = 0; i < 2 * names; i++) {
        unsigned n = i % names + 1;
        name_of(n, name);
        memledger_push(name);
        memledger_alloc(space, (void *)((uintptr_t)(i + 1) << 20), n);
        memledger_pop();
    }
    return 0;
}
