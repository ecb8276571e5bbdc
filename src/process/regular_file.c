/* regular_file.c: see regular_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int ml_regular_file_open(int found, int how)
{
    char link[32];
    struct stat st;
    int fd;

    if (found < 0)
        return found;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
    if (fstat(found, &st))
        fd = -errno;
    else if (!S_ISREG(st.st_mode))
        fd = -EINVAL;
    else if ((fd = open(link, how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0)
        fd = -errno;
    close(found);
    return fd;
}

/* Only files in memory have seals. */
static bool is_empty_memory(int fd)
{
    struct stat st;

    return !fstat(fd, &st) && !st.st_nlink && !st.st_size && fcntl(fd, F_GET_SEALS) >= 0;
}

int ml_memory_file_open(int found, int how)
{
    int fd = ml_regular_file_open(found, how);

    if (fd < 0 || is_empty_memory(fd))
        return fd;
    close(fd);
    return -EINVAL;
}
