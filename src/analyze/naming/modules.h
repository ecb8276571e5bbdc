/* modules.h: which module each block of a trace belongs to.
 *
 * The name of a scope of kind MODULE is its path below the outermost module ("encoder.layers.3");
 * the outermost one has its own name ("GPT"). Forward, backward and recompute have separate
 * scopes for a module; here they are one module. A parameter, a buffer, a gradient, an optimizer
 * state and a cache of keys and values belong to the module whose path is a prefix of their label,
 * wherever they were allocated.
 *
 * An optimizer has a place among the outermost modules: "optimizer: AdamW".
 *
 * In a trace without such scopes the other scopes are the modules, nested as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MODULES_H
#define ML_ANALYZE_MODULES_H

#include "arena.h"
#include "intern.h"
#include "replay.h"
#include "scope_facts.h"

#define ML_NO_MODULE 0 /* the index for blocks without a module */

struct ml_module {
    uint32_t parent;  /* index; ML_NO_MODULE for an outermost one */
    uint32_t root;    /* the outermost one around it, or itself */
    const char *path; /* "encoder.layers.3"; "GPT" for an outermost one */
    size_t path_len;
    const char *name;    /* the part of the path below its parent: "layers.3" */
    uint32_t class_name; /* string, "Linear"; 0: unknown */
    uint32_t scope;      /* the first of its scopes */
    bool is_optimizer;   /* no module: what an optimizer allocates outside of all modules */
    bool is_function;    /* no module: a function of the program */
};

struct ml_modules {
    const struct ml_trace *trace;
    struct ml_arena arena;
    ML_VEC(struct ml_module) list; /* [0]: none; then in order of the first call */
    ML_VEC(uint32_t) roots;        /* indices */
    ML_VEC(uint32_t) of_scope;     /* by scope: the innermost module around it */
    struct ml_scope_facts facts;
    bool nested;            /* the trace has only other scopes */
    bool has_nodes;         /* nodes of MXNet's graphs are modules */
    struct ml_intern names; /* root and path -> index - 1 */
    struct ml_map of_label; /* label and scope -> index */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_modules_init(struct ml_modules *modules, const struct ml_trace *trace);
void ml_modules_release(struct ml_modules *modules);

/* The index of a block's module, or -ENOMEM. */
int64_t ml_modules_of(struct ml_modules *modules, const struct ml_block *block);

/* The length of a name without its number: 4 for "Loss#12", all of "Loss". */
size_t ml_name_without_number(const char *name, size_t len);

/* The first of the modules that differ only in the number of the outermost one: "Loss" for
 * "Loss#2". recreated_modules.h explains when they are the same module.
 * @return its index, `module` itself if there is none, or -ENOMEM */
int64_t ml_modules_first_alike(const struct ml_modules *modules, uint32_t module);

/* "GPT > encoder.layers.3", "GPT", "" for none, in the arena given.
 * @return NULL: out of memory */
const char *ml_module_title(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena);

/* "Linear" in the arena given, "" if unknown. @return NULL: out of memory */
const char *ml_module_class(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena);

#endif
