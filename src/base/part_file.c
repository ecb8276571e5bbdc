/* part_file.c: see part_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"

#define SUFFIX ".XXXXXX"

/* mkostemp leaves no template behind, not even where it failed. */
static int make_beside(const char *path, char *part)
{
    sprintf(part, "%s" SUFFIX, path);
    return mkostemp(part, O_CLOEXEC);
}

int ml_part_make(const char *path, char **ret_part)
{
    char *part = malloc(strlen(path) + sizeof(SUFFIX));
    int fd, r;

    if (!part)
        return -ENOMEM;
    fd = make_beside(path, part);
    r = fd < 0 ? -errno : 0;
    if (r == -ENOENT && (r = ml_folders_make(path)) == 0) {
        fd = make_beside(path, part);
        r = fd < 0 ? -errno : 0;
    }
    if (r == 0) {
        *ret_part = part;
        return fd;
    }
    free(part);
    return r;
}

/* For file systems that cannot rename without replacing: NFS, some FUSE ones. */
static int link_in_place(const char *part, const char *path)
{
    if (link(part, path) < 0)
        return -errno;
    unlink(part);
    return 0;
}

/* For file systems without hard links too: the process that creates an empty file of this name
 * owns the name. */
static int claim_place(const char *part, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int r;

    if (fd < 0)
        return -errno;
    close(fd);
    if (rename(part, path) == 0)
        return 0;
    r = -errno;
    unlink(path);
    return r;
}

static bool is_lacking(int r)
{
    return r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP || r == -EPERM;
}

int ml_part_place(const char *part, const char *path, bool replace)
{
    int r;

    if (replace)
        return rename(part, path) < 0 ? -errno : 0;
    r = renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) < 0 ? -errno : 0;
    if (is_lacking(r))
        r = link_in_place(part, path);
    if (is_lacking(r))
        r = claim_place(part, path);
    return r;
}

int ml_part_exists(const char *path, struct ml_error *err)
{
    return ml_error_set(err, -EEXIST, "%s exists; choose another name or overwrite it with -f",
                        path);
}
