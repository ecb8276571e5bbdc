/* fills_table.c: a program without steps that allocates first and works then: 5,000 blocks that
 * it never frees, and a table that doubles once, halfway. Its work takes ten times as long as the
 * start in each half, however slow the machine is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 5000
#define MIB ((size_t)1 << 20)

/* volatile: the compiler would leave out blocks that are never read. */
static void *volatile kept[BLOCKS];
static void *volatile table, *volatile result;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    nanosleep(&time, NULL);
}

int main(void)
{
    int64_t start = now_ns(), half;

    for (int i = 0; i < BLOCKS; i++)
        kept[i] = malloc(1000);
    table = malloc(8 * MIB);
    half = 10 * (now_ns() - start);
    sleep_ns(half);
    table = realloc(table, 16 * MIB);
    sleep_ns(half);
    result = malloc(100);
    free(result);
    free(table);
    return 0;
}
