/* early_ifunc_main.c: calls the indirect function of early_ifunc.c, and uses the memory that
 * its resolver got.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "early_malloc.h"

int main(void)
{
    char *own = malloc(MAIN_BYTES);
    char *block = early_indirect_block();

    if (!own)
        return 1;
    memset(own, 1, MAIN_BYTES);
    memset(block, 1, EARLY_BYTES);
    block = realloc(block, 2 * EARLY_BYTES);
    memset(block + EARLY_BYTES, 2, EARLY_BYTES);
    printf("%d %d %d %d\n", early_indirect(), *own, block[EARLY_BYTES - 1], block[EARLY_BYTES]);
    free(block);
    free(own);
    return 3;
}
