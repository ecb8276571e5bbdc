/* view_files.c: see view_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "view_files.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_output.h"
#include "options.h"
#include "recent_traces.h"
#include "say.h"

#define FOLDER_MAX 200

/* ---- Named files ----------------------------------------------------------- */

/* Opened by another process: its memory limit must not become that of the server and the browser.
 * It says what is wrong. */
static bool can_be_read(const struct ml_opening *opening, const char *path)
{
    const char *const argv[] = {"events", "--json", "--limit=1", "--", path, NULL};
    const struct ml_child_limits limits = {
        .output_bytes = 1u << 20, .seconds = 300, .stop_fd = opening->stop_fd, .show_errors = true};
    struct ml_buf output = {0};
    int code = ml_child_output(argv, &limits, &output, NULL);

    ml_buf_release(&output);
    return code == 0;
}

int ml_view_add_file(struct ml_served_files *files, const struct ml_opening *opening,
                     const char *path)
{
    char trace[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (access(path, R_OK)) {
        ml_say("%s: %s", path, strerror(errno));
        return ML_EXIT_FAILURE;
    }
    if (ml_open_file(opening, path, trace, NULL) < 0 || !can_be_read(opening, trace))
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
