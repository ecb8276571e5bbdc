/* mount_type.c: see mount_type.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mount_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of the mount; -1: unknown. */
static int mount_of(int fd)
{
    char path[64], line[128];
    int mount = -1;
    FILE *info;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    info = fopen(path, "re");
    if (!info)
        return -1;
    while (mount < 0 && fgets(line, sizeof(line), info)) {
        if (sscanf(line, "mnt_id: %d", &mount) != 1)
            mount = -1;
    }
    fclose(info);
    return mount;
}

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
    int mount = mount_of(fd);
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
