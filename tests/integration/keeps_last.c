/* keeps_last.c: records numbered allocations, of which the last 1,000 are live, until it is killed
 * or has made so many.
 *
 *     keeps_last FILE COUNT [BYTES]
 *
 * The n-th block has the size n; before it the (n - 1000)-th is freed. After each
 * allocation its number is stored in the file, which outlives the program. A block of BYTES is
 * made and freed before all others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "memledger/memledger.h"

#define LIVE 1000

#define ADDRESS_BITS ((UINT64_C(1) << 40) - 1)

/* A different one for each number, and without a pattern, so that the file grows fast. */
static void *address(uint64_t n)
{
    n = n * 0x9e3779b97f4a7c15u & ADDRESS_BITS;
    n ^= n >> 19;
    n = n * 0xbf58476d1ce4e5b9u & ADDRESS_BITS;
    return (void *)(uintptr_t)((n ^ n >> 17) << 4);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
    volatile uint64_t *told;
    memledger_space space;

    if (fd < 0)
        return 2;
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (told == MAP_FAILED)
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "numbered");
    if (argc > 3) {
        memledger_alloc(space, address(count + 1), strtoull(argv[3], NULL, 10));
        memledger_free(space, address(count + 1));
    }
    for (uint64_t n = 1; n <= count; n++) {
        if (n > LIVE)
            memledger_free(space, address(n - LIVE));
        memledger_alloc(space, address(n), n);
        *told = n;
    }
    return 0;
}
