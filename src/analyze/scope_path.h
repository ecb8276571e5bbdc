/* scope_path.h: the names of a scope and all around it, "encoder > layer0".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SCOPE_PATH_H
#define ML_ANALYZE_SCOPE_PATH_H

#include "arena.h"
#include "trace.h"
#include "vec.h"

/* A longer path loses its outer scopes to "…". */
#define ML_SCOPE_PATH_MAX 4096

/* Appends the path; nothing for scope 0. @return 0 or -ENOMEM */
int ml_scope_path(const struct ml_trace *trace, uint32_t scope, struct ml_buf *out);

/* The same as a string of the arena, "" for scope 0. @return NULL: out of memory */
const char *ml_scope_path_dup(const struct ml_trace *trace, uint32_t scope, struct ml_arena *arena);

#endif
