/* limits_itself.c: leaves itself 8 MiB of address space, then names a space and says that
 * 77 bytes were allocated there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define ROOM (8u << 20)

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

int main(void)
{
    rlim_t in_use = bytes_in_use();
    struct rlimit limit = {in_use + ROOM, in_use + ROOM};
    memledger_space space;

    if (!in_use || setrlimit(RLIMIT_AS, &limit))
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "late");
    memledger_alloc(space, (void *)0x1000, 77);
    return 0;
}
