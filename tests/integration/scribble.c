/* scribble.c: writes over the memory it shares with the collector, as a stray
 * pointer would, while it records.
 *
 *     scribble head | tail | words | state | all SEED
 *
 * "all" overwrites random words of the headers and the first ring, of which most
 * mean something. Ends with 0, whatever becomes of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"

/* Where src/format/ring.h has the rings' headers and words: after the set's own page; three
 * cache lines for each ring, of which the first set has 8. */
#define RINGS_OFFSET 4096
#define RING_BYTES 192
#define WORDS_OFFSET (2 * 4096)

static memledger_space space;

static char *shared_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    char *found = NULL;

    while (maps && !found && fgets(line, sizeof(line), maps)) {
        if (strstr(line, "/memfd:memledger"))
            found = (char *)strtoul(line, NULL, 16);
    }
    if (maps)
        fclose(maps);
    return found;
}

static void record(int count)
{
    for (uintptr_t i = 1; i <= (uintptr_t)count; i++)
        memledger_alloc(space, (void *)(i * 16), 16);
}

static void scribble(char *memory, const char *what, unsigned seed)
{
    volatile uint64_t *ring = (uint64_t *)(memory + RINGS_OFFSET);
    volatile uint64_t *words = (uint64_t *)(memory + WORDS_OFFSET);

    if (!strcmp(what, "head"))
        ring[0] -= 12345;
    if (!strcmp(what, "tail"))
        ring[8] -= 1000000;
    if (!strcmp(what, "state"))
        ((volatile uint32_t *)ring)[32] = 77;
    for (int i = 0; i < 1000 && !strcmp(what, "words"); i++)
        words[i] = 0x0123456789abcdef * (uint64_t)i;
    srand(seed);
    for (int i = 0; i < 200 && !strcmp(what, "all"); i++) {
        uint64_t value = (uint64_t)rand() << (rand() % 40);
        if (i % 2)
            ring[rand() % (RING_BYTES * 4 / 8)] = value;
        else
            words[rand() % 131072] = value;
        record(100);
    }
}

int main(int argc, char **argv)
{
    char *memory;

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "scribble");
    record(1000);
    memory = shared_memory();
    if (argc < 2 || !memory)
        return 2;
    scribble(memory, argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    record(300000);
    return 0;
}
