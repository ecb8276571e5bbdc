/* folders.c: see folders.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLEAR_DEPTH_MAX 8
#define CLEAR_ENTRIES_MAX 20000

int ml_folders_make(const char *file)
{
    int saved_errno = errno, r;
    char *path = strdup(file), *end;

    r = path ? -ENOENT : -ENOMEM;

    /* The root exists. */
    end = path && *path ? strchr(path + 1, '/') : NULL;
    for (; end; end = strchr(end + 1, '/')) {
        *end = '\0';
        if (mkdir(path, 0777) == 0)
            r = 0;
        else if (errno != EEXIST) {
            r = -errno;
            break;
        }
        *end = '/';
    }
    free(path);
    errno = saved_errno;
    return r;
}

static void clear(int folder, int depth, int *left);

static void remove_entry(int folder, const char *name, int depth, int *left)
{
    int inner;

    if (!unlinkat(folder, name, 0) || (errno != EISDIR && errno != EPERM))
        return;
    inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return;
    if (depth < CLEAR_DEPTH_MAX)
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
    int left = CLEAR_ENTRIES_MAX;

    clear(folder, 0, &left);
}
