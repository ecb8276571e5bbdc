/* installed_files.c: looks for installed files relative to /proc/self/exe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "installed_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"

/* The folder of this command. */
static int own_folder(char ret[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);

    if (n < 0)
        return -errno;
    ret[n] = '\0';
    *strrchr(ret, '/') = '\0';
    return 0;
}

/* The first of `places`, relative to `folder`, that has the file. */
static bool find_in(const char *folder, const char *const *places, size_t n, const char *name,
                    char ret[PATH_MAX])
{
    for (size_t i = 0; i < n; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s/%s", folder, places[i], name);
        if (realpath(path, ret) && !access(ret, R_OK))
            return true;
    }
    return false;
}

int ml_recorder_path(const char *name, char ret[PATH_MAX], struct ml_error *err)
{
    /* An installation's, a wheel's, a build folder's. */
    static const char *const places[] = {"../lib/memledger", "../recorder", "../capture"};
    char self[PATH_MAX];
    int r = own_folder(self);

    if (r)
        return ml_error_set(err, r, "cannot find the folder of the memledger command: %s",
                            strerror(-r));
    if (find_in(self, places, ML_ARRAY_SIZE(places), name, ret))
        return 0;
    return ml_error_set(err, -ENOENT, "%s is not in %s/../lib/memledger; install memledger again",
                        name, self);
}

void ml_bootstrap_path(char ret[PATH_MAX])
{
    /* An installation's, a wheel's, a build folder's. */
    static const char *const places[] = {"../lib/memledger/python/bootstrap", "../bootstrap",
                                         "../../python/bootstrap"};
    char self[PATH_MAX];

    if (own_folder(self) ||
        !find_in(self, places, ML_ARRAY_SIZE(places), "sitecustomize.py", ret) || strchr(ret, ':'))
        *ret = '\0';
    else
        *strrchr(ret, '/') = '\0';
}

void ml_pages_path(char ret[PATH_MAX])
{
    /* An installation's, a wheel's, a build folder's. */
    static const char *const places[] = {"../share/doc/memledger/docs", "../docs", "../../docs"};
    char self[PATH_MAX];

    if (own_folder(self) ||
        !find_in(self, places, ML_ARRAY_SIZE(places), "commands/help.md", ret)) {
        *ret = '\0';
        return;
    }
    *strrchr(ret, '/') = '\0';
    *strrchr(ret, '/') = '\0';
}
