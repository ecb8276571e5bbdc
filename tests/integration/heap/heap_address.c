/* heap_address.c: takes the address of malloc. Linked at a fixed address, the program then has
 * a symbol of that name, but does not define malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_expect.h"

static void *(*volatile allocate)(size_t) = malloc;

int main(void)
{
    free(allocate(76001));
    expect(76001, 1, 1);
    return 0;
}
