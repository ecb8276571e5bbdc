/* handed_check.c: see handed_check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "handed_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "compiler.h"
#include "own_root.h"

/* ---- The type of its file system ---------------------------------------- */

/* Of a line "ID ... - TYPE SOURCE OPTIONS", see proc(5). Blanks in paths are escaped. */
static bool type_in(const char *line, int mount, char ret_type[ML_MOUNT_TYPE_ROOM])
{
    const char *type = strstr(line, " - ");
    int number;

    return type && sscanf(line, "%d", &number) == 1 && number == mount &&
           sscanf(type, " - %63s", ret_type) == 1;
}

bool ml_mount_type(int fd, char ret_type[ML_MOUNT_TYPE_ROOM])
{
    int mount = ml_mount_of(fd);
    FILE *mounts = mount < 0 ? NULL : fopen("/proc/self/mountinfo", "re");
    bool found = false;
    char *line = NULL;
    size_t room = 0;

    if (!mounts)
        return false;
    while (!found && getline(&line, &room, mounts) > 0)
        found = type_in(line, mount, ret_type);
    free(line);
    fclose(mounts);
    return found;
}

/* ---- The check ---------------------------------------------------------- */

/* Not defined in every version of the headers. */
#define FUSE_MAGIC 0x65735546
#define RESCTRL_MAGIC 0x7655821
#define CONFIGFS_MAGIC 0x62656570
#define FUSE_CONTROL_MAGIC 0x65735543
#define NFSD_MAGIC 0x6e667364

/* A process serves such a file system. It may be the target, which could block us for ever, and
 * with us every process of the run. virtiofs, which is FUSE too, is served by the host. */
static bool is_served_by_process(int fd)
{
    char type[ML_MOUNT_TYPE_ROOM];
    struct statfs fs;

    if (ml_mount_type(fd, type))
        return !strncmp(type, "fuse", strlen("fuse")) && strcmp(type, "fusectl") != 0;
    return !fstatfs(fd, &fs) && (uint32_t)fs.f_type == FUSE_MAGIC;
}

/* These are not plain files: the kernel acts on the written data, and for some
 * of them checks the writer, not the opener. */
static bool is_interface(int fd)
{
    static const uint32_t magics[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,   CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
        SECURITYFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC,        DEBUGFS_MAGIC,
        TRACEFS_MAGIC,    BPF_FS_MAGIC,  EFIVARFS_MAGIC,     BINFMTFS_MAGIC,
        PSTOREFS_MAGIC,   RESCTRL_MAGIC, CONFIGFS_MAGIC,     FUSE_CONTROL_MAGIC,
        NFSD_MAGIC,
    };
    struct statfs fs;

    if (fstatfs(fd, &fs))
        return true;
    for (size_t i = 0; i < ML_ARRAY_SIZE(magics); i++) {
        if ((uint32_t)fs.f_type == magics[i])
            return true;
    }
    return false;
}

int ml_handed_check(int fd, const char *path, struct ml_error *err)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    /* First: all other calls ask the file system. */
    if (is_served_by_process(fd))
        return ml_error_set(err, -EOPNOTSUPP,
                            "%s: is on a FUSE file system, which could block memledger; set "
                            "\"filename\" to a file on another",
                            path);
    if (flags < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || is_interface(fd))
        return ml_error_set(err, -EINVAL, "%s: is not a regular file; set \"filename\" to another",
                            path);
    if ((flags & O_ACCMODE) == O_RDONLY || flags & (O_APPEND | O_PATH | O_DIRECT))
        return ml_error_set(err, -EBADF, "%s: was not opened for writing", path);
    /* A write by another user clears these bits, but not one by root. */
    if (st.st_mode & (S_ISUID | S_ISGID))
        return ml_error_set(err, -EPERM, "%s: has a set-user-ID or set-group-ID bit", path);
    return 0;
}
