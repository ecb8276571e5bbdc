/* window_beside.c: see window_beside.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "window_beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "part_file.h"

int ml_beside_make(const char *path, char **ret_part)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash && slash > path ? (size_t)(slash - path) : 1);
    int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

    free(folder);
    *ret_part = NULL;
    return fd >= 0 ? fd : ml_part_make(path, ret_part);
}

int ml_beside_name(int fd, const char *path, char **part)
{
    char from[64];

    if (*part)
        return 0;
    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    if (asprintf(part, "%s.%d.next", path, (int)getpid()) < 0) {
        *part = NULL;
        return -ENOMEM;
    }
    unlink(*part);
    return linkat(AT_FDCWD, from, AT_FDCWD, *part, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}
