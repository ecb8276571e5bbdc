/* cuda_library.c: tries one place after another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where pip and Debian put the libraries of the nvidia wheels. */
#define PYTHON_PACKAGES "lib/python3*/*-packages/nvidia/*/lib"

/* cuDNN opens its parts by name and finds them next to itself. */
static void *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

/* A pattern, because the wheels spread over several folders. */
static void *open_in_pattern(const char *pattern, const char *name)
{
    void *library = NULL;
    glob_t found;

    if (glob(pattern, 0, NULL, &found))
        return NULL;
    for (size_t i = 0; i < found.gl_pathc && !library; i++)
        library = open_in(found.gl_pathv[i], name);
    globfree(&found);
    return library;
}

static void *open_below(const char *root, const char *rest, const char *name)
{
    char pattern[PATH_MAX];

    if (!root || snprintf(pattern, sizeof(pattern), "%s/%s", root, rest) >= (int)sizeof(pattern))
        return NULL;
    return open_in_pattern(pattern, name);
}

typedef void *open_somewhere(const char *name);

static void *open_by_name(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

static void *open_in_cuda_home(const char *name)
{
    return open_below(getenv("CUDA_HOME"), "lib64", name);
}

static void *open_in_toolkit(const char *name)
{
    void *library = open_in("/usr/local/cuda/lib64", name);

    return library ? library : open_in("/usr/local/cuda/targets/x86_64-linux/lib", name);
}

static void *open_in_environment(const char *name)
{
    return open_below(getenv("VIRTUAL_ENV"), PYTHON_PACKAGES, name);
}

static void *open_in_home(const char *name)
{
    return open_below(getenv("HOME"), ".local/" PYTHON_PACKAGES, name);
}

/* A Python whose program is in bin/ has its packages in lib/ beside it. Running it would be
 * exact, but would add another program to the recording. */
static void *open_beside_path(const char *name)
{
    const char *path = getenv("PATH");
    char *folders = path ? strdup(path) : NULL;
    char *rest = folders;
    void *library = NULL;

    while (rest && !library)
        library = open_below(strsep(&rest, ":"), "../" PYTHON_PACKAGES, name);
    free(folders);
    return library;
}

void *cuda_library_open(const char *const *names, const char *folder)
{
    open_somewhere *const places[] = {open_by_name,        open_in_cuda_home, open_in_toolkit,
                                      open_in_environment, open_in_home,      open_beside_path};
    void *library = NULL;

    if (folder) {
        for (; *names && !library; names++)
            library = open_in(folder, *names);
        return library;
    }
    for (size_t place = 0; place < sizeof(places) / sizeof(places[0]); place++)
        for (const char *const *name = names; *name && !library; name++)
            library = places[place](*name);
    return library;
}

int cuda_library_symbols(void *library, const char *name, const struct cuda_symbol *symbols,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *symbols[i].address = dlsym(library, symbols[i].name);
        if (!*symbols[i].address) {
            fprintf(stderr, "vgg19: %s has no %s; a newer one is needed\n", name, symbols[i].name);
            return -ENODEV;
        }
    }
    return 0;
}
