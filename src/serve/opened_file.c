/* opened_file.c: see opened_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opened_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "child_output.h"
#include "io.h"

#define OUTPUT_BYTES (1u << 20)
#define SECONDS 3600

bool ml_is_trace_file(const char *path)
{
    uint8_t begin[ML_FILE_HEADER_BYTES];
    struct ml_file_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for its writer */
    bool is = fd >= 0 && ml_pread_all(fd, begin, sizeof(begin), 0) == 0 &&
              ml_file_header_get(begin, &header) != ML_FRAME_NOT_OURS;

    if (fd >= 0)
        close(fd);
    return is;
}

/* The import names the file by its path in the folder, which says nothing to the user. */
static const char *without_folder(const char *reason, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;

    return strncmp(reason, path, len) == 0 ? reason + len : reason;
}

static int import(const struct ml_opening *opening, const char *path, const char *trace,
                  struct ml_error *err)
{
    const char *quietly = opening->show ? "--force" : "--quiet";
    const char *argv[] = {"import", "--force", quietly, "--output", trace, "--", path, NULL};
    const struct ml_child_limits limits = {.output_bytes = OUTPUT_BYTES,
                                           .seconds = SECONDS,
                                           .stop_fd = opening->stop_fd,
                                           .show_errors = opening->show};
    struct ml_buf output = {0};
    int code = ml_child_output(argv, &limits, &output, err);

    if (code > 0)
        code = ml_error_set(err, -EINVAL, "%s", without_folder(ml_child_reason(&output), path));
    ml_buf_release(&output);
    return code;
}

/* An import would explain less about a trace that is damaged, or has just been begun. */
static bool is_named_trace(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcmp(dot, ".mled") == 0;
}

int ml_open_file(const struct ml_opening *opening, const char *path, char ret[PATH_MAX],
                 struct ml_error *err)
{
    int r;

    if (is_named_trace(path) || ml_is_trace_file(path)) {
        snprintf(ret, PATH_MAX, "%s", path);
        return 0;
    }
    r = ml_private_folder_place(opening->folder, "imported.mled", ret, err);
    return r == 0 ? import(opening, path, ret, err) : r;
}
