/* output_file.h: write a file completely or not at all.
 *
 * Bytes go to a temporary file beside the requested one, which is renamed at the end. Anything
 * other than a regular file (a pipe, /dev/null), and "-" for standard output, is written to
 * directly.
 *
 *     r = ml_output_open(&out, path, force, &err);
 *     r = ml_buf_printf(&out.text, "%d rows\n", n);
 *     r = ml_output_line(&out);            as often as there are lines
 *     r = ml_output_commit(&out, &err);    or ml_output_abort(&out)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_OUTPUT_FILE_H
#define ML_BASE_OUTPUT_FILE_H

#include <stdbool.h>

#include "error.h"
#include "vec.h"

struct ml_output {
    struct ml_buf text; /* not written yet: callers append */
    int fd;
    char *path;    /* as requested */
    char *written; /* where the bytes go: the temporary file; NULL: directly */
    bool force;    /* may replace an existing file */
    bool terminal; /* escape control characters for the terminal */
};

/* @force   replace an existing file
 * @ret     after success the caller commits or aborts it
 * @return 0, -EEXIST, or another negative errno, with the reason in `err` */
int ml_output_open(struct ml_output *ret, const char *path, bool force, struct ml_error *err);

/* Whether the output goes to a temporary file, which libraries may open by the name
 * `written`. */
bool ml_output_has_file(const struct ml_output *out);

/* Writes the pending `text` once it is large enough.
 * @return 0 or negative errno */
int ml_output_line(struct ml_output *out);

/* Writes all pending text. @return 0 or negative errno */
int ml_output_flush(struct ml_output *out);

/* Gives the file its name, unless that name has been taken meanwhile and `force` was not given.
 * Releases `out`, also after a failure, which leaves no file behind.
 * @return 0, -EEXIST, or another negative errno */
int ml_output_commit(struct ml_output *out, struct ml_error *err);

/* Puts "PATH: cannot write: ..." into `err` unless the writer has already left a message there.
 * @return r */
int ml_output_failed(const struct ml_output *out, int r, struct ml_error *err);

/* Removes the temporary file and releases `out`. */
void ml_output_abort(struct ml_output *out);

#endif
