/* cuda_plugin.c: a library that does its own lookups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void look_from_plugin(const char *name);
EXPORTED void fill_table(void *driver);
EXPORTED void *table_of_plugin(void);

/* Without the library that the search began in. */
static const char *words(const char *error)
{
    const char *colon = strstr(error, ": undefined");

    return colon ? colon + 2 : error;
}

static void tell(const char *where, const char *name, void *found)
{
    const char *error = dlerror();
    Dl_info info;

    if (found && dladdr(found, &info) && strrchr(info.dli_fname, '/'))
        printf("%s %s: %s\n", where, name, strrchr(info.dli_fname, '/') + 1);
    else
        printf("%s %s: %s\n", where, name, error ? words(error) : "nothing");
}

void look_from_plugin(const char *name)
{
    tell("next of the plugin", name, dlsym(RTLD_NEXT, name));
    tell("default of the plugin", name, dlsym(RTLD_DEFAULT, name));
}

/* Static data, as a run-time library linked into this one would have. */
static void *table;

void fill_table(void *driver)
{
    table = dlsym(driver, "cuMemAlloc_v2");
}

void *table_of_plugin(void)
{
    return table;
}
