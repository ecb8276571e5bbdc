/* started_name.c: see started_name.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "started_name.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"

#define DELETED " (deleted)"
#define COMMAND_ROOM 4096

static bool begins_with(const char *text, const char *start)
{
    return start[0] && !strncmp(text, start, strlen(start));
}

static void read_file_name(pid_t pid, char ret[ML_STARTED_NAME_ROOM])
{
    char link[64], path[PATH_MAX];
    const char *slash;
    ssize_t len;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    if (len > (ssize_t)strlen(DELETED) && !strcmp(path + len - strlen(DELETED), DELETED))
        path[len - (ssize_t)strlen(DELETED)] = '\0';
    slash = strrchr(path, '/');
    snprintf(ret, ML_STARTED_NAME_ROOM, "%.63s", slash ? slash + 1 : path);
}

/* "bash" of a login shell "-bash", "nginx" of "nginx: master process". */
static void read_typed_name(pid_t pid, char ret[ML_STARTED_NAME_ROOM])
{
    char command[COMMAND_ROOM];
    const char *name;
    size_t len;

    ml_command_line_of((uint32_t)pid, command, sizeof(command));
    len = ml_command_line_program(command, &name);
    if (len > 0 && name[0] == '-') {
        name++;
        len--;
    }
    if (len > 0 && name[len - 1] == ':')
        len--;
    snprintf(ret, ML_STARTED_NAME_ROOM, "%.*s", (int)(len < ML_STARTED_NAME_ROOM ? len : 0), name);
}

/* A name becomes a part of a path, and the process chooses it. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"

static bool is_plain(const char *name)
{
    return name[0] && name[0] != '.' && name[0] != '-' && name[strspn(name, PLAIN)] == '\0';
}

static void make_plain(char *name)
{
    for (char *c = name; *c; c++)
        if (!strchr(PLAIN, *c) || (c == name && (*c == '.' || *c == '-')))
            *c = '_';
}

void ml_started_name(pid_t pid, char ret[ML_STARTED_NAME_ROOM])
{
    char typed[ML_STARTED_NAME_ROOM], shown[ML_STARTED_NAME_ROOM];

    read_file_name(pid, ret);
    ml_command_short_name((uint32_t)pid, shown, sizeof(shown));
    read_typed_name(pid, typed);
    if (is_plain(typed) && (begins_with(typed, shown) || begins_with(ret, typed)))
        snprintf(ret, ML_STARTED_NAME_ROOM, "%s", typed);
    else
        make_plain(ret);
}
