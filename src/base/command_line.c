/* command_line.c: see command_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

size_t ml_command_line_program(const char *command, const char **ret)
{
    size_t len = strcspn(command, " ");
    const char *slash = memrchr(command, '/', len);

    *ret = slash ? slash + 1 : command;
    return len - (size_t)(*ret - command);
}
