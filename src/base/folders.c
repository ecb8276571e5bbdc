/* folders.c: see folders.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
