/* scope_facts.h: what a scope says of the blocks born in it: the innermost module
 * and the innermost phase on the way to the root. Found once for all scopes of a
 * trace, since blocks ask millions of times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SCOPE_FACTS_H
#define ML_ANALYZE_SCOPE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "phase.h"
#include "trace.h"

struct ml_scope_fact {
    uint32_t module;      /* the innermost scope that is a module's, 0: none */
    uint32_t phase_scope; /* the innermost scope of a phase that is known, 0: none */
    uint32_t operation;   /* the outermost operator in that phase, 0: none */
    uint8_t phase;        /* enum ml_phase: its phase */
};

struct ml_scope_facts {
    struct ml_scope_fact *items; /* by scope number; NULL where there are none */
    uint32_t len;
    bool has_modules, has_phases;
};

/* @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_scope_facts_init(const struct ml_trace *trace, struct ml_scope_facts *ret);
void ml_scope_facts_release(struct ml_scope_facts *facts);

/* Of any number: one that is not defined has neither module nor phase. */
static inline struct ml_scope_fact ml_scope_fact_of(const struct ml_scope_facts *facts,
                                                    uint32_t scope)
{
    return scope < facts->len ? facts->items[scope] : (struct ml_scope_fact){0};
}

/* Whether a module was called within the phase, or without any. An optimizer that
 * calls the model again (L-BFGS) is in a module then. */
static inline bool ml_scope_is_in_module(const struct ml_scope_fact *fact)
{
    return fact->module > fact->phase_scope; /* inner scopes have higher numbers */
}

#endif
