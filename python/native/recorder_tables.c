/* recorder_tables.c: see recorder_tables.h. Called with the interpreter's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recorder_tables.h"

static const struct memledger_api *api;
static const struct ml_live_api *live;
static const struct ml_extension_api *extension;

/* All tables or none: a recorder of another build counts as missing. */
static bool take_from(void *handle)
{
    const struct memledger_api *its_api =
        (const struct memledger_api *)dlsym(handle, "memledger_api_v1");
    const struct ml_live_api *its_live =
        (const struct ml_live_api *)dlsym(handle, ML_LIVE_API_NAME);
    const struct ml_extension_api *its_extension =
        (const struct ml_extension_api *)dlsym(handle, ML_EXTENSION_API_NAME);

    if (!its_api || !its_live || !its_extension || its_api->version != MEMLEDGER_API_VERSION ||
        its_live->version != ML_LIVE_API_VERSION || its_live->struct_bytes != sizeof(*its_live) ||
        its_extension->version != ML_EXTENSION_API_VERSION ||
        its_extension->struct_bytes != sizeof(*its_extension))
        return false;
    api = its_api;
    live = its_live;
    extension = its_extension;
    return true;
}

/* A preloaded recorder is visible to everyone, from the start of the process on. */
static void look_for_preloaded(void)
{
    static bool looked;

    if (!api && !looked)
        take_from(RTLD_DEFAULT);
    looked = true;
}

const struct memledger_api *ml_native_api(void)
{
    look_for_preloaded();
    return api;
}

const struct ml_live_api *ml_native_live(void)
{
    look_for_preloaded();
    return live;
}

const struct ml_extension_api *ml_native_recorder(void)
{
    look_for_preloaded();
    return extension;
}

/* RTLD_LOCAL, because its hooks have the names of functions that the program may look up. */
bool ml_native_load(const char *path, const char **ret_why)
{
    void *handle;

    if (ml_native_live())
        return true;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *ret_why = handle ? "it belongs to another version of memledger" : dlerror();
    return handle && take_from(handle);
}
