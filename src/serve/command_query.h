/* command_query.h: from a request to the command that answers it.
 *
 * The page shows what the command line prints: `/api/tree?file=0&at=peak` is
 * `memledger tree --json --at=peak FILE`. Only commands and options that read, and files that the
 * server was started with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_COMMAND_QUERY_H
#define ML_SERVE_COMMAND_QUERY_H

#include <stddef.h>

#include "arena.h"
#include "error.h"
#include "vec.h"

struct ml_command_query {
    struct ml_arena arena;
    ML_VEC(const char *) argv; /* from the command's name on, NULL at the end */
    ML_VEC(const char *) files;
};

/* @verb   that of the path, such as "tree"
 * @return 0, or -ENOENT: there is no such command; or -ENOMEM */
int ml_command_query_begin(struct ml_command_query *query, const char *verb, struct ml_error *err);
void ml_command_query_release(struct ml_command_query *query);

/* One argument of the request. "file" names one of the server's files by number.
 * @value  NULL: none was given
 * @return 0, -EINVAL with a reason, or -ENOMEM */
int ml_command_query_add(struct ml_command_query *query, const char *name, const char *value,
                         const char *const *files, size_t file_count, struct ml_error *err);

/* Call after the last argument. @return 0, -EINVAL: no file was named, or -ENOMEM */
int ml_command_query_end(struct ml_command_query *query, struct ml_error *err);

/* The command as one would type it; in the arena. NULL: no memory */
const char *ml_command_query_text(struct ml_command_query *query);

#endif
