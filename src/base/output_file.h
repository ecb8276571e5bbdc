/* output_file.h: write a file that is there whole or not at all.
 *
 * Bytes go to a temporary file beside the one asked for, which takes its name at the
 * end. A name that stands for something else than a file (a pipe, /dev/null), and "-"
 * for standard output, are written to directly.
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
    char *path;    /* as asked for */
    char *written; /* where the bytes go: the temporary file; NULL: directly */
    bool force;    /* it may replace a file */
    bool terminal; /* what a terminal would obey is made printable */
};

/* @force   replace a file that is there
 * @ret     after success to be committed or aborted
 * @return 0, -EEXIST, or another negative errno, with the reason in `err` */
int ml_output_open(struct ml_output *ret, const char *path, bool force, struct ml_error *err);

/* Whether it goes to a file of its own, which libraries may open by the name `written`. */
bool ml_output_has_file(const struct ml_output *out);

/* Writes what has gathered in `text`, if it is enough to be worth it.
 * @return 0 or negative errno */
int ml_output_line(struct ml_output *out);

/* Writes what has gathered. @return 0 or negative errno */
int ml_output_flush(struct ml_output *out);

/* The file gets its name, unless something took it meanwhile and `force` was not given.
 * Releases `out`, after a failure too, which leaves no file.
 * @return 0, -EEXIST, or another negative errno */
int ml_output_commit(struct ml_output *out, struct ml_error *err);

/* Puts "PATH: cannot write: ..." into `err` where who wrote has left no words there.
 * @return r */
int ml_output_failed(const struct ml_output *out, int r, struct ml_error *err);

/* As if nothing had been written. */
void ml_output_abort(struct ml_output *out);

#endif
