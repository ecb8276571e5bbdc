/* command_line.c: see command_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* @return how many bytes of /proc/PID/NAME were read: less than the room; 0 if it is gone */
static size_t read_of(uint32_t pid, const char *name, char *text, size_t room)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

void ml_command_short_name(uint32_t pid, char *text, size_t room)
{
    text[read_of(pid, "comm", text, room)] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

void ml_command_line_of(uint32_t pid, char *text, size_t room)
{
    size_t n = read_of(pid, "cmdline", text, room);

    while (n && !text[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
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
