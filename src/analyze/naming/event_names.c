/* event_names.c: see event_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "event_names.h"

#include <stddef.h>
#include <stdio.h>

#include "compiler.h"
#include "defs.h"
#include "event.h"
#include "memledger/memledger.h"

static const char *const categories[] = {
    [MEMLEDGER_OTHER] = "other",
    [MEMLEDGER_PARAMETER] = "parameter",
    [MEMLEDGER_BUFFER] = "buffer",
    [MEMLEDGER_GRADIENT] = "gradient",
    [MEMLEDGER_OPTIMIZER_STATE] = "optimizer_state",
    [MEMLEDGER_ACTIVATION] = "activation",
    [MEMLEDGER_INTERMEDIATE_GRADIENT] = "intermediate_gradient",
    [MEMLEDGER_INPUT] = "input",
    [MEMLEDGER_TEMPORARY] = "temporary",
    [MEMLEDGER_WORKSPACE] = "workspace",
    [MEMLEDGER_KV_CACHE] = "kv_cache",
    [MEMLEDGER_GATHERED] = "gathered",
    [MEMLEDGER_COMMUNICATION] = "communication",
};

static const char *const levels[] = {
    [MEMLEDGER_DRIVER] = "driver",
    [MEMLEDGER_POOL] = "pool",
    [MEMLEDGER_BLOCK] = "block",
};

static const char *const hows[] = {
    [ML_STARTED] = "started",
    [ML_FORKED] = "forked",
    [ML_EXECED] = "exec",
};

static const char *pick(const char *const *names, size_t count, uint64_t i, const char *absent)
{
    return i < count && names[i] ? names[i] : absent;
}

const char *ml_category_name(uint64_t category)
{
    return pick(categories, ML_ARRAY_SIZE(categories), category, "other");
}

const char *ml_level_name(uint32_t level)
{
    return pick(levels, ML_ARRAY_SIZE(levels), level, "unknown");
}

const char *ml_how_name(uint32_t how)
{
    return pick(hows, ML_ARRAY_SIZE(hows), how, "unknown");
}

const char *ml_kind_name(uint32_t kind)
{
    return kind < ML_ARRAY_SIZE(ml_shapes) && ml_shapes[kind].name ? ml_shapes[kind].name
                                                                   : "unknown";
}

uint32_t ml_role_rank(const char *role)
{
    unsigned rank;

    return sscanf(role, "rank %9u", &rank) == 1 ? rank + 1 : 0;
}
