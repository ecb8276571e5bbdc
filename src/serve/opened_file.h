/* opened_file.h: a file that is to be looked at: a trace, or one that `memledger import` converts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_OPENED_FILE_H
#define ML_SERVE_OPENED_FILE_H

#include <stdbool.h>

#include "private_folder.h"

/* Whether a file has the first bytes of a trace. */
bool ml_is_trace_file(const char *path);

struct ml_opening {
    struct ml_private_folder *folder;
    int stop_fd; /* as in ml_child_limits */
    bool show;   /* the import shows its progress and its errors on this process's standard error */
};

/* The path of a trace with the contents of `path`: itself, or what an import in another process
 * makes of it in the folder.
 * @return 0 or negative errno, with the import's own words unless it showed them */
int ml_open_file(const struct ml_opening *opening, const char *path, char ret[PATH_MAX],
                 struct ml_error *err);

#endif
