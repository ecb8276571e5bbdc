/* fills_table.c: a program without steps that allocates first and works then: 5,000 blocks that
 * it never frees, and a table that doubles once, halfway.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 5000
#define MIB ((size_t)1 << 20)
#define HALF_US 150000

/* volatile: the compiler would leave out blocks that are never read. */
static void *volatile kept[BLOCKS];
static void *volatile table, *volatile result;

int main(void)
{
    for (int i = 0; i < BLOCKS; i++)
        kept[i] = malloc(1000);
    table = malloc(8 * MIB);
    usleep(HALF_US);
    table = realloc(table, 16 * MIB);
    usleep(HALF_US);
    result = malloc(100);
    free(result);
    free(table);
    return 0;
}
