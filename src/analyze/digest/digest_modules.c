/* digest_modules.c: see digest_modules.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_modules.h"

#include <errno.h>

#define DEPTHS 16

/* 1 for an outermost module. */
static unsigned depth_of(const struct ml_modules *all, uint32_t module)
{
    unsigned depth = 0;

    for (; module != ML_NO_MODULE && depth < DEPTHS; module = all->list.items[module].parent)
        depth++;
    return depth;
}

/* The module, or the one around it, that is not deeper than the digest. */
static uint32_t fold(const struct ml_digest_modules *m, uint32_t module)
{
    while (module != ML_NO_MODULE && depth_of(&m->all, module) > m->depth)
        module = m->all.list.items[module].parent;
    return module;
}

static void choose_depth(struct ml_digest_modules *m)
{
    size_t at_depth[DEPTHS + 1] = {0}, count = 0;

    for (uint32_t i = 1; i < m->all.list.len; i++)
        at_depth[depth_of(&m->all, i)]++;
    for (m->depth = 1; m->depth < DEPTHS; m->depth++) {
        count += at_depth[m->depth];
        if (count + at_depth[m->depth + 1] >= ML_DIGEST_MODULES_MAX || !at_depth[m->depth + 1])
            break;
    }
}

/* Where the module's place in the digest is; a number below 0 is -ENOMEM. */
static int64_t place(struct ml_digest_modules *m, uint32_t module, struct ml_digest *digest)
{
    const struct ml_module *from = &m->all.list.items[module];
    struct ml_digest_module to = {0};
    int64_t parent;

    if (module == ML_NO_MODULE || digest->modules.len >= ML_DIGEST_MODULES_MAX)
        return 0;
    if (m->kept.items[module] > 0)
        return m->kept.items[module] - 1;
    parent = place(m, from->parent, digest);
    if (parent < 0)
        return parent;
    to.parent = (uint32_t)parent;
    to.path = ml_arena_dup(&digest->arena, from->path, from->path_len);
    if (!to.path || ml_vec_push(&digest->modules, to) < 0)
        return -ENOMEM;
    m->kept.items[module] = (uint32_t)digest->modules.len;
    return (int64_t)digest->modules.len - 1;
}

/* Modules that differ only in the number of the outermost one are one here. */
static int64_t settle(struct ml_digest_modules *m, uint32_t module, struct ml_digest *digest)
{
    int64_t alike = ml_modules_first_alike(&m->all, fold(m, module));

    return alike < 0 ? alike : place(m, (uint32_t)alike, digest);
}

int ml_digest_modules_init(struct ml_digest_modules *m, const struct ml_trace *trace,
                           struct ml_digest *digest)
{
    int r = ml_modules_init(&m->all, trace);

    if (r == 0)
        choose_depth(m);
    if (r == 0)
        r = ml_vec_push(&digest->modules, (struct ml_digest_module){.path = ""});
    for (size_t i = 0; r == 0 && i < m->all.list.len; i++)
        r = ml_vec_push(&m->kept, 0);
    for (uint32_t i = 1; r == 0 && i < m->all.list.len; i++) {
        int64_t kept = settle(m, i, digest);

        if (kept < 0)
            r = (int)kept;
        else
            m->kept.items[i] = (uint32_t)kept + 1;
    }
    return r;
}

void ml_digest_modules_release(struct ml_digest_modules *m)
{
    ml_modules_release(&m->all);
    ml_vec_release(&m->kept);
}

int64_t ml_digest_modules_of(struct ml_digest_modules *m, const struct ml_block *block)
{
    int64_t module = ml_modules_of(&m->all, block);

    if (module < 0)
        return module;
    return (size_t)module < m->kept.len && module != ML_NO_MODULE ? m->kept.items[module] - 1 : 0;
}
