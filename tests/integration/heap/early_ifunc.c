/* early_ifunc.c: a library whose indirect function is resolved with the help of malloc, while
 * the loader relocates the program and libraries that come before this one are not ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "early_malloc.h"

static void *block;

static int answer(void)
{
    return 42;
}

static int (*resolve(void))(void)
{
    void *other = calloc(10, 10);

    block = realloc(malloc(10), EARLY_BYTES);
    free(other);
    return answer;
}

int early_indirect(void) __attribute__((ifunc("resolve")));

void *early_indirect_block(void)
{
    return block;
}
