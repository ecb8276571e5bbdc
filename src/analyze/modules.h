/* modules.h: which module each block of a trace belongs to.
 *
 * A scope of kind MODULE is named by its path below the outermost module
 * ("encoder.layers.3"), the outermost one by its own name ("GPT"). Forward, backward
 * and recompute of a module have scopes of their own, all of one module here. A
 * parameter, a buffer, a gradient and an optimizer's state belong to the module whose
 * path their label begins with, wherever they were allocated.
 *
 * A trace without such scopes has its other scopes as modules, nested as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MODULES_H
#define ML_ANALYZE_MODULES_H

#include "arena.h"
#include "intern.h"
#include "replay.h"
#include "scope_facts.h"

#define ML_NO_MODULE 0 /* the index of what belongs to none */

struct ml_module {
    uint32_t parent;  /* index; ML_NO_MODULE of an outermost one */
    uint32_t root;    /* the outermost one around it, or itself */
    const char *path; /* "encoder.layers.3", of an outermost one "GPT" */
    size_t path_len;
    const char *name;    /* what it adds to its parent's path: "layers.3" */
    uint32_t class_name; /* string, "Linear"; 0: not known */
    uint32_t scope;      /* the first of its scopes */
};

struct ml_modules {
    const struct ml_trace *trace;
    struct ml_arena arena;
    ML_VEC(struct ml_module) list; /* [0]: none; then in order of the first call */
    ML_VEC(uint32_t) roots;        /* indices */
    ML_VEC(uint32_t) of_scope;     /* by scope: the innermost module around it */
    struct ml_scope_facts facts;
    bool nested;            /* there are no modules but scopes */
    struct ml_intern names; /* root and path -> index - 1 */
    struct ml_map of_label; /* label and scope -> index */
};

/* @return 0 or -ENOMEM; release in both cases */
int ml_modules_init(struct ml_modules *modules, const struct ml_trace *trace);
void ml_modules_release(struct ml_modules *modules);

/* The index of a block's module, or -ENOMEM. */
int64_t ml_modules_of(struct ml_modules *modules, const struct ml_block *block);

/* How long a name is without its number: 4 of "Loss#12", all of "Loss". */
size_t ml_name_without_number(const char *name, size_t len);

/* The first of the modules that differ only in the number of the outermost one:
 * "Loss" of "Loss#2". recreated_modules.h says when they are one.
 * @return its index, `module` itself if there is none, or -ENOMEM */
int64_t ml_modules_first_alike(const struct ml_modules *modules, uint32_t module);

/* "GPT > encoder.layers.3", "GPT", "" for none, in the arena given.
 * @return NULL: out of memory */
const char *ml_module_title(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena);

/* "Linear" in the arena given, "" if it is not known. @return NULL: out of memory */
const char *ml_module_class(const struct ml_modules *modules, uint32_t module,
                            struct ml_arena *arena);

#endif
