/* command_line.c: /proc/PID/cmdline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void ml_command_line_of(uint32_t pid, char *text, size_t room)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    while (n && !text[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = '\0';
}
