/* scope_facts.h: facts about the blocks allocated in a scope: the innermost module
 * and the innermost phase on the path to the root. Computed once for all scopes of a
 * trace, since they are looked up for millions of blocks.
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
    uint32_t module;      /* the innermost scope of a module, 0: none */
    uint32_t phase_scope; /* the innermost scope of a known phase, 0: none */
    uint32_t operation;   /* the outermost operator in that phase, 0: none */
    uint8_t phase;        /* enum ml_phase: its phase */
    bool in_function;     /* the module is a function of the program (ML_FUNCTION_CLASS) */
};

struct ml_scope_facts {
    struct ml_scope_fact *items; /* by scope number; NULL if there are none */
    uint32_t len;
    bool has_modules; /* other than functions of the program */
    bool has_functions, has_phases;
};

/* @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_scope_facts_init(const struct ml_trace *trace, struct ml_scope_facts *ret);
void ml_scope_facts_release(struct ml_scope_facts *facts);

/* For any number: an undefined one has neither module nor phase. */
static inline struct ml_scope_fact ml_scope_fact_of(const struct ml_scope_facts *facts,
                                                    uint32_t scope)
{
    return scope < facts->len ? facts->items[scope] : (struct ml_scope_fact){0};
}

/* Whether a module was called within the phase, or outside all phases. This includes an
 * optimizer that calls the model again (L-BFGS). */
static inline bool ml_scope_is_in_module(const struct ml_scope_fact *fact)
{
    return fact->module > fact->phase_scope; /* inner scopes have higher numbers */
}

#endif
