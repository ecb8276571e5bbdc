/* folder_clear.c: see folder_clear.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "folder_clear.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 8
#define ENTRIES_MAX 20000

static void clear(int folder, int depth, int *left);

static void remove_entry(int folder, const char *name, int depth, int *left)
{
    int inner;

    if (!unlinkat(folder, name, 0) || (errno != EISDIR && errno != EPERM))
        return;
    inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return;
    if (depth < DEPTH_MAX)
        clear(inner, depth + 1, left);
    close(inner);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void clear(int folder, int depth, int *left)
{
    int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = listed >= 0 ? fdopendir(listed) : NULL;
    struct dirent *entry;

    while (all && *left > 0 && (entry = readdir(all))) {
        (*left)--;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(folder, entry->d_name, depth, left);
    }
    if (all)
        closedir(all);
    else if (listed >= 0)
        close(listed);
}

void ml_folder_clear(int folder)
{
    int left = ENTRIES_MAX;

    clear(folder, 0, &left);
}
