/* tbd_operands.h: the operands of `groups --style tbd`: traces, logs of TBD's profiler, and
 * folders of these, as TBD's script takes a folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_TBD_OPERANDS_H
#define ML_CLI_TBD_OPERANDS_H

#include "report_command.h"
#include "vec.h"

typedef ML_VEC(char *) ml_file_list;

/* The files, and in place of a folder the files in it, by name.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno, with the reason in `err` */
int ml_tbd_files(char **operands, size_t count, ml_file_list *ret, struct ml_error *err);
void ml_tbd_files_release(ml_file_list *files);

/* Opens a trace, or imports a log for as long as the command runs; prints why not.
 * @return NULL on failure; the caller owns it */
struct ml_trace *ml_tbd_open(const char *path, const struct ml_report_opts *opts);

#endif
