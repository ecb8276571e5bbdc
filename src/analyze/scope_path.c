/* scope_path.c: see scope_path.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scope_path.h"

#define SEPARATOR " > "
#define CUT "\xe2\x80\xa6"
#define DEPTH_MAX 4096 /* the format's limit */

/* The scopes from the innermost out, as many as fit. Returns their number. */
static size_t collect(const struct ml_trace *trace, uint32_t scope, uint32_t *ret, bool *ret_cut)
{
    size_t depth = 0, bytes = 0;

    while (scope != 0 && depth < DEPTH_MAX) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);
        uint32_t len;

        ml_trace_string(trace, s->name, &len);
        bytes += len + sizeof(SEPARATOR) - 1;
        if (depth > 0 && bytes > ML_SCOPE_PATH_MAX)
            break;
        ret[depth++] = scope;
        scope = s->parent < scope ? s->parent : 0;
    }
    *ret_cut = scope != 0;
    return depth;
}

int ml_scope_path(const struct ml_trace *trace, uint32_t scope, struct ml_buf *out)
{
    uint32_t scopes[DEPTH_MAX];
    bool cut;
    size_t depth = collect(trace, scope, scopes, &cut);
    int r = cut ? ml_buf_puts(out, CUT SEPARATOR) : 0;

    while (depth-- > 0 && r == 0) {
        uint32_t len;
        const char *name = ml_trace_string(trace, ml_trace_scope(trace, scopes[depth])->name, &len);

        r = ml_buf_append(out, name, len);
        if (r == 0 && depth > 0)
            r = ml_buf_puts(out, SEPARATOR);
    }
    return r;
}

const char *ml_scope_path_dup(const struct ml_trace *trace, uint32_t scope, struct ml_arena *arena)
{
    struct ml_buf path;
    const char *copy = NULL;

    ml_buf_init(&path);
    if (ml_scope_path(trace, scope, &path) == 0)
        copy = ml_arena_dup(arena, path.data, path.len);
    ml_buf_release(&path);
    return copy;
}
