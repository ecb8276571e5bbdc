/* stack_plugin_twin.c: a plugin of which a second one exists with the same code at the same
 * addresses, and other names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

extern void keep(void *p);

__attribute__((noinline)) void TWIN_FUNCTION(size_t bytes);

__attribute__((noinline)) void TWIN_FUNCTION(size_t bytes)
{
    keep(malloc(bytes));
    __asm__ volatile("" ::: "memory");
}

__attribute__((visibility("default"))) void plugin_allocates(size_t bytes);

void plugin_allocates(size_t bytes)
{
    TWIN_FUNCTION(bytes);
    __asm__ volatile("" ::: "memory");
}
