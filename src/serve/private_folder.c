/* private_folder.c: see private_folder.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "private_folder.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_BYTES 100
#define OPEN_FOLDERS 8

int ml_private_folder_make(struct ml_private_folder *folder, struct ml_error *err)
{
    const char *base = getenv("TMPDIR");
    int n;

    if (!base || base[0] != '/')
        base = "/tmp";
    n = snprintf(folder->path, sizeof(folder->path), "%s/memledger-view-XXXXXX", base);
    if (n < (int)sizeof(folder->path) && mkdtemp(folder->path)) /* mode 0700 */
        return 0;
    folder->path[0] = '\0';
    return ml_error_set(err, -errno, "cannot make a folder in %s: %s; set TMPDIR to another", base,
                        strerror(errno));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    remove(path);
    return 0;
}

void ml_private_folder_remove(struct ml_private_folder *folder)
{
    if (folder->path[0])
        nftw(folder->path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    folder->path[0] = '\0';
}

static bool is_harmless(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

int ml_private_folder_place(struct ml_private_folder *folder, const char *name, char ret[PATH_MAX],
                            struct ml_error *err)
{
    unsigned number = atomic_fetch_add(&folder->places, 1);
    char safe[NAME_BYTES + 1] = "";
    int n = snprintf(ret, PATH_MAX, "%s/%u", folder->path, number);

    for (size_t i = 0; name[i] && i < NAME_BYTES; i++)
        safe[i] = is_harmless(name[i]) ? name[i] : '_';
    if (safe[0] == '.' || safe[0] == '-' || !safe[0])
        safe[0] = '_';
    if (n >= PATH_MAX - NAME_BYTES - 2)
        return ml_error_set(err, -ENAMETOOLONG, "TMPDIR is too long");
    if (mkdir(ret, 0700))
        return ml_error_set(err, -errno, "%s: %s", ret, strerror(errno));
    snprintf(ret + n, (size_t)(PATH_MAX - n), "/%s", safe);
    return 0;
}
