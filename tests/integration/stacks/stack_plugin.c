/* stack_plugin.c: a library to load, unload and replace by its twin: two are built from this
 * file, identical except for the name of their function and the size of their allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_probe.h"

__attribute__((visibility("default"))) uint32_t plugin_run(uint64_t address);

/* The one function's name differs, its code does not. */
static __attribute__((noinline, used)) uint32_t PLUGIN_FUNCTION(uint64_t address)
{
    uint32_t stack = probe_alloc(address, PLUGIN_BYTES);

    __asm__ volatile("" ::: "memory");
    return stack;
}

uint32_t plugin_run(uint64_t address)
{
    uint32_t stack = PLUGIN_FUNCTION(address);

    __asm__ volatile("" ::: "memory");
    return stack;
}
