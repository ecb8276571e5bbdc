/* view_files.c: see view_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "view_files.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_output.h"
#include "options.h"
#include "recent_traces.h"
#include "say.h"
#include "trace.h"

#define FOLDER_MAX 200

/* ---- Named files ----------------------------------------------------------- */

/* Opened by another process: its memory limit must not become that of the server and the browser.
 * It says what is wrong, and a long trace without checkpoints gets them now, once, not by each of
 * the page's first questions.
 * @salvage  skips damaged blocks, and says nothing */
static bool can_be_read(const struct ml_opening *opening, const char *path, bool salvage)
{
    const char *const argv[] = {"events",    "--json",     salvage ? "--salvage" : "--json",
                                "--limit=1", "--from=1ns", "--",
                                path,        NULL};
    const struct ml_child_limits limits = {.output_bytes = 1u << 20,
                                           .seconds = 3600,
                                           .stop_fd = opening->stop_fd,
                                           .show_errors = !salvage};
    struct ml_buf output = {0};
    int code = ml_child_output(argv, &limits, &output, NULL);

    ml_buf_release(&output);
    return code == 0;
}

/* The first question to the trace has said what is damaged.
 * @return whether there is anything to show */
static bool is_readable(const struct ml_opening *opening, const char *trace, const char *path,
                        bool *ret_damaged)
{
    *ret_damaged = false;
    if (can_be_read(opening, trace, false))
        return true;
    *ret_damaged = can_be_read(opening, trace, true);
    if (*ret_damaged)
        ml_say("%s: view skips damaged blocks; the page shows the others", path);
    return *ret_damaged;
}

/* Files of a folder, sorted. The name of the folder is no pattern: it may contain [ or *.
 * @return  0, or as glob() */
static int find_in_folder(const char *folder, const char *pattern, glob_t *ret)
{
    char whole[2 * PATH_MAX + NAME_MAX];
    size_t len = 0;

    for (const char *c = folder; *c && len < sizeof(whole) - NAME_MAX; c++) {
        if (strchr("*?[\\", *c))
            whole[len++] = '\\';
        whole[len++] = *c;
    }
    snprintf(whole + len, sizeof(whole) - len, "/%s", pattern);
    return glob(whole, 0, NULL, ret);
}

static void say_no_trace(const char *path)
{
    glob_t found = {0};

    if (find_in_folder(path, "*.mled.digest", &found) == 0)
        ml_say("%s: there are digests in this folder, but no traces: memledger ranks compares "
               "digests; copy the trace of a rank to look at it",
               path);
    else
        ml_say("%s: there is no trace in this folder; memledger run -o FOLDER/ -- PROGRAM writes "
               "one there",
               path);
    globfree(&found);
}

/* The traces of a job. They are not read now: there may be hundreds. */
static int add_folder(struct ml_served_files *files, const char *path)
{
    size_t added = 0;
    glob_t found = {0};

    if (find_in_folder(path, "*.mled", &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            added += ml_is_trace_file(found.gl_pathv[i]) &&
                     ml_served_files_add(files, found.gl_pathv[i], NULL, false) >= 0;
    globfree(&found);
    if (added == 0)
        say_no_trace(path);
    return added > 0 ? ML_EXIT_OK : ML_EXIT_FAILURE;
}

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int ml_view_add_file(struct ml_served_files *files, const struct ml_opening *opening,
                     const char *path, bool *ret_damaged)
{
    char trace[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct ml_error err;

    if (access(path, R_OK)) {
        ml_trace_absent(path, errno, &err);
        ml_say("%s", err.text);
        return ML_EXIT_FAILURE;
    }
    if (is_folder(path))
        return add_folder(files, path);
    if (ml_open_file(opening, path, trace, NULL) < 0 ||
        !is_readable(opening, trace, path, ret_damaged))
        return ML_EXIT_FAILURE; /* the other process has said why */
    if (ml_served_files_add(files, trace, slash ? slash + 1 : path, false) >= 0)
        return ML_EXIT_OK;
    ml_say("%s: more than %d files; name fewer", path, ML_SERVED_FILES_MAX);
    return ML_EXIT_FAILURE;
}

/* ---- Recent traces ----------------------------------------------------------- */

static bool has(const struct ml_served_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->paths[i] && strcmp(files->paths[i], path) == 0)
            return true;
    return false;
}

static void list_trace(struct ml_served_files *files, const char *path)
{
    char *whole = realpath(path, NULL);

    if (whole && !has(files, whole) && ml_is_trace_file(whole))
        ml_served_files_add(files, whole, NULL, true);
    free(whole);
}

static void list_folder(struct ml_served_files *files)
{
    glob_t found;

    if (glob("*.mled", GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && i < FOLDER_MAX; i++)
            list_trace(files, found.gl_pathv[i]);
    globfree(&found);
}

void ml_view_add_recent(struct ml_served_files *files)
{
    struct ml_recent_traces recent;

    ml_served_files_add(files, NULL, NULL, true);
    ml_recent_read(&recent);
    for (size_t i = 0; i < recent.paths.len; i++)
        list_trace(files, recent.paths.items[i]);
    ml_recent_release(&recent);
    list_folder(files);
}
