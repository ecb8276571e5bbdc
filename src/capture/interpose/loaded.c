/* loaded.c: see loaded.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
    const char *name;
    char *path;
};

static int is_it(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct search *wanted = context;
    const char *path = info->dlpi_name;
    const char *slash = path ? strrchr(path, '/') : NULL;

    (void)size;
    if (!path || strncmp(slash ? slash + 1 : path, wanted->name, strlen(wanted->name)) ||
        strlen(path) >= PATH_MAX)
        return 0;
    strcpy(wanted->path, path);
    return 1;
}

bool ml_loaded_path(const char *name, char ret[PATH_MAX])
{
    struct search wanted = {name, ret};

    return dl_iterate_phdr(is_it, &wanted);
}

void *ml_loaded_keep(const char *name)
{
    char path[PATH_MAX];

    return ml_loaded_path(name, path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}
