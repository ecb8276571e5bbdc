/* recreated_scopes.c: see recreated_scopes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recreated_scopes.h"

#include <errno.h>

#include "intern.h"
#include "modules.h"
#include "text.h"

/* The key that similar scopes share: their place, kind and name. */
static int make_key(const struct ml_trace *trace, const struct ml_recreated_scopes *alike,
                    uint32_t scope, struct ml_buf *ret)
{
    const struct ml_scope *s = ml_trace_scope(trace, scope);
    const uint32_t fixed[] = {ml_recreated_scope(alike, s->parent), s->kind};
    uint32_t len;
    const char *name = ml_trace_string(trace, s->name, &len);
    int r;

    ml_buf_clear(ret);
    r = ml_buf_append(ret, fixed, sizeof(fixed));
    return r < 0 ? r : ml_buf_append(ret, name, ml_name_without_number(name, len));
}

int ml_recreated_scopes_find(const struct ml_trace *trace, struct ml_recreated_scopes *ret)
{
    ML_VEC(uint32_t) firsts = {0}; /* by number of the key */
    struct ml_intern keys = {0};
    struct ml_buf key;
    int r = 0;

    *ret = (struct ml_recreated_scopes){0};
    ml_buf_init(&key);
    for (uint32_t i = 0; r == 0 && i < ml_trace_scopes(trace); i++) {
        int64_t number;

        r = make_key(trace, ret, i, &key);
        number = r < 0 ? r : ml_intern_put(&keys, key.data, key.len, NULL);
        if (number < 0 || ((size_t)number == firsts.len && ml_vec_push(&firsts, i) < 0) ||
            (size_t)number >= firsts.len || ml_vec_push(&ret->first, firsts.items[number]) < 0)
            r = -ENOMEM;
    }
    ml_buf_release(&key);
    ml_intern_release(&keys);
    ml_vec_release(&firsts);
    return r;
}

void ml_recreated_scopes_release(struct ml_recreated_scopes *alike)
{
    ml_vec_release(&alike->first);
}
