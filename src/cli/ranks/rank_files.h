/* rank_files.h: the traces and digests of a job, in folders and as operands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RANK_FILES_H
#define ML_CLI_RANK_FILES_H

#include <stdbool.h>

#include "arena.h"
#include "error.h"
#include "vec.h"

struct ml_rank_file {
    const char *trace;  /* the name, if it is here or not */
    const char *digest; /* beside it */
    bool has_trace, has_digest;
};

struct ml_rank_files {
    struct ml_arena arena;
    ML_VEC(struct ml_rank_file) list; /* by name, each trace once */
};

/* Adds a file, or all traces and digests in a folder and the folders in it.
 * @return 0 or negative errno, with the reason in `err` */
int ml_rank_files_add(struct ml_rank_files *files, const char *path, struct ml_error *err);

/* Joins traces with their digests; call it after the last one was added. */
void ml_rank_files_join(struct ml_rank_files *files);
void ml_rank_files_release(struct ml_rank_files *files);

#endif
