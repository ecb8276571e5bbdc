/* recent_traces.c: see recent_traces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recent_traces.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "part_file.h"

#define NAME "memledger/recent"
#define WAIT_MS 200

static bool is_ours(const char *folder)
{
    struct stat info;

    return stat(folder, &info) == 0 && info.st_uid == geteuid();
}

/* With sudo, the home may be another user's. */
static bool find_list(char ret[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n;

    if (state && state[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/" NAME, state);
    else if (home && home[0] == '/' && is_ours(home))
        n = snprintf(ret, PATH_MAX, "%s/.local/state/" NAME, home);
    else
        return false;
    return n > 0 && n < PATH_MAX;
}

static void read_lines(FILE *f, struct ml_recent_traces *ret)
{
    char line[PATH_MAX + 1];

    while (ret->paths.len < ML_RECENT_MAX && fgets(line, sizeof(line), f)) {
        const char *path;

        line[strcspn(line, "\n")] = '\0';
        path = line[0] == '/' ? ml_arena_dup(&ret->arena, line, strlen(line)) : NULL;
        if (path && ml_vec_push(&ret->paths, path) < 0)
            return;
    }
}

void ml_recent_read(struct ml_recent_traces *ret)
{
    char list[PATH_MAX];
    FILE *f;

    *ret = (struct ml_recent_traces){0};
    f = find_list(list) ? fopen(list, "re") : NULL;
    if (!f)
        return;
    read_lines(f, ret);
    fclose(f);
}

void ml_recent_release(struct ml_recent_traces *recent)
{
    ml_vec_release(&recent->paths);
    ml_arena_release(&recent->arena);
}

/* The list with the trace before the others. */
static int list_with(const char *trace, struct ml_buf *out)
{
    struct ml_recent_traces old;
    int r = ml_buf_printf(out, "%s\n", trace);

    ml_recent_read(&old);
    for (size_t i = 0; i < old.paths.len && i < ML_RECENT_MAX - 1 && r == 0; i++)
        if (strcmp(old.paths.items[i], trace))
            r = ml_buf_printf(out, "%s\n", old.paths.items[i]);
    ml_recent_release(&old);
    return r;
}

static void write_list(const char *trace)
{
    char list[PATH_MAX], *part = NULL;
    struct ml_buf text = {0};
    int fd = -1;

    if (find_list(list) && list_with(trace, &text) == 0)
        fd = ml_part_make(list, &part);
    if (fd >= 0) {
        int r = ml_write_all(fd, text.data, text.len);

        close(fd);
        if (r < 0 || ml_part_place(part, list, true) < 0)
            unlink(part);
    }
    free(part);
    ml_buf_release(&text);
}

/* Only a regular file can be looked at again. */
static void note(const char *trace)
{
    char *path = realpath(trace, NULL);
    struct stat info;

    if (path && !strchr(path, '\n') && stat(path, &info) == 0 && S_ISREG(info.st_mode))
        write_list(path);
    free(path);
}

/* Usually that takes a millisecond; on a disk that hangs the process is left behind. */
static void wait_a_little(pid_t pid)
{
    for (int i = 0; i < WAIT_MS && waitpid(pid, NULL, WNOHANG) == 0; i++)
        usleep(1000);
}

void ml_recent_note(const char *trace)
{
    pid_t pid = fork();

    if (pid > 0)
        wait_a_little(pid);
    if (pid != 0)
        return;
    /* A pipe that the caller reads to its end must not stay open. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    note(trace);
    _exit(0);
}
