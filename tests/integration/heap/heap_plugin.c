/* heap_plugin.c: a library that allocates when it is loaded and frees, or not,
 * when it is unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_expect.h"

__attribute__((visibility("default"))) int heap_plugin_loaded(void);

static void *kept;

/* For a program to be linked with. */
int heap_plugin_loaded(void)
{
    return kept != NULL;
}

__attribute__((constructor)) static void load(void)
{
    kept = used(malloc(74001));
    used(malloc(74002));
}

__attribute__((destructor)) static void unload(void)
{
    free(kept);
    free(used(malloc(74003)));
}
