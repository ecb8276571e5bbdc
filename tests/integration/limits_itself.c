/* limits_itself.c: leaves itself 8 MiB of address space, then opens a space and reports an
 * allocation of 77 bytes there.
 *
 *     limits_itself LIMIT WANTED      limits itself to so many KiB in all, and allocates as many
 *                                     as are wanted
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define ROOM (8u << 20)
#define BLOCK_BYTES (64u << 10)

/* Of address space in use, or 0. */
static rlim_t bytes_in_use(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (!f || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    rlim_t in_use = bytes_in_use();
    rlim_t bytes = argc > 2 ? strtoul(argv[1], NULL, 10) << 10 : in_use + ROOM;
    struct rlimit limit = {bytes, bytes};
    memledger_space space;

    if (!in_use || setrlimit(RLIMIT_AS, &limit))
        return 2;
    for (size_t got = 0; argc > 2 && got < strtoul(argv[2], NULL, 10) << 10; got += BLOCK_BYTES) {
        if (!malloc(BLOCK_BYTES))
            return 3;
    }
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "late");
    memledger_alloc(space, (void *)0x1000, 77);
    return 0;
}
