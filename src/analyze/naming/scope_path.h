/* scope_path.h: the names of a scope and of all scopes around it, "encoder > layer0".
 *
 * Modules have dotted names that contain those of the modules around them, so only the innermost
 * appears: "GPT > encoder.layers.3.out_proj". A phase precedes the scopes it contains: "backward:
 * GPT > encoder.0".
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

/* Other names of a scope: strings of the trace, valid as long as the trace. */
struct ml_scope_names {
    const char *module;     /* dotted name of the innermost module; NULL: none */
    const char *class_name; /* the module's class; NULL: unknown */
    const char *phase;      /* name of the innermost phase; NULL: none */
};

struct ml_scope_names ml_scope_names_of(const struct ml_trace *trace, uint32_t scope);

#endif
