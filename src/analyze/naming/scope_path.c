/* scope_path.c: see scope_path.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scope_path.h"

#include <stdbool.h>
#include <string.h>

#include "memledger/memledger.h"

#define SEPARATOR " > "
#define AFTER_PHASE ": "
#define CUT "\xe2\x80\xa6"
#define DEPTH_MAX 4096 /* the format's limit */

static uint32_t parent_of(const struct ml_trace *trace, uint32_t scope)
{
    uint32_t parent = ml_trace_scope(trace, scope)->parent;

    return parent < scope ? parent : 0;
}

/* "encoder" around "encoder.0": the inner name contains the outer one. */
static bool is_contained(const struct ml_trace *trace, const struct ml_scope *outer,
                         const struct ml_scope *inner)
{
    uint32_t outer_len, inner_len;
    const char *outer_name, *inner_name;

    if (outer->kind != MEMLEDGER_SCOPE_MODULE || inner->kind != MEMLEDGER_SCOPE_MODULE)
        return false;
    outer_name = ml_trace_string(trace, outer->name, &outer_len);
    inner_name = ml_trace_string(trace, inner->name, &inner_len);
    return inner_len > outer_len && inner_name[outer_len] == '.' &&
           memcmp(inner_name, outer_name, outer_len) == 0;
}

/* The scopes to name, from the innermost outwards, as many as fit. Returns their number. */
static size_t collect(const struct ml_trace *trace, uint32_t scope, uint32_t *ret, bool *ret_cut)
{
    size_t count = 0, bytes = 0;
    uint32_t inner = 0;

    for (size_t depth = 0; scope != 0 && depth < DEPTH_MAX; depth++) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);
        uint32_t len;

        if (inner == 0 || !is_contained(trace, s, ml_trace_scope(trace, inner))) {
            ml_trace_string(trace, s->name, &len);
            bytes += len + sizeof(SEPARATOR) - 1;
            if (count > 0 && bytes > ML_SCOPE_PATH_MAX)
                break;
            ret[count++] = scope;
        }
        inner = scope;
        scope = parent_of(trace, scope);
    }
    *ret_cut = scope != 0;
    return count;
}

int ml_scope_path(const struct ml_trace *trace, uint32_t scope, struct ml_buf *out)
{
    uint32_t scopes[DEPTH_MAX];
    bool cut;
    size_t count = collect(trace, scope, scopes, &cut);
    int r = cut ? ml_buf_puts(out, CUT SEPARATOR) : 0;

    while (count-- > 0 && r == 0) {
        const struct ml_scope *s = ml_trace_scope(trace, scopes[count]);
        uint32_t len;
        const char *name = ml_trace_string(trace, s->name, &len);

        r = ml_buf_append(out, name, len);
        if (r == 0 && count > 0)
            r = ml_buf_puts(out, s->kind == MEMLEDGER_SCOPE_PHASE ? AFTER_PHASE : SEPARATOR);
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

struct ml_scope_names ml_scope_names_of(const struct ml_trace *trace, uint32_t scope)
{
    struct ml_scope_names names = {0};

    for (; scope != 0; scope = parent_of(trace, scope)) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);

        if (s->kind == MEMLEDGER_SCOPE_MODULE && !names.module) {
            names.module = ml_trace_string(trace, s->name, NULL);
            if (s->class_name)
                names.class_name = ml_trace_string(trace, s->class_name, NULL);
        } else if (s->kind == MEMLEDGER_SCOPE_PHASE && !names.phase) {
            names.phase = ml_trace_string(trace, s->name, NULL);
        }
    }
    return names;
}
