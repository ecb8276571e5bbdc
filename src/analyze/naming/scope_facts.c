/* scope_facts.c: see scope_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scope_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "event.h"
#include "memledger/memledger.h"

static void add_own(const struct ml_trace *trace, uint32_t number, struct ml_scope_fact *fact)
{
    const struct ml_scope *scope = ml_trace_scope(trace, number);
    enum ml_phase phase;
    uint32_t len;
    const char *name;

    if (scope->kind == MEMLEDGER_SCOPE_MODULE) {
        fact->module = number;
        fact->in_function =
            strcmp(ml_trace_string(trace, scope->class_name, NULL), ML_FUNCTION_CLASS) == 0;
    }
    if (scope->kind == MEMLEDGER_SCOPE_OPERATOR && fact->operation == 0)
        fact->operation = number;
    if (scope->kind != MEMLEDGER_SCOPE_PHASE)
        return;
    name = ml_trace_string(trace, scope->name, &len);
    phase = ml_phase_of_name(name, len);
    if (phase == ML_PHASE_NONE)
        return; /* a name that the program chose: the phase around it still counts */
    fact->operation = 0;
    fact->phase = (uint8_t)phase;
    fact->phase_scope = number;
}

int ml_scope_facts_init(const struct ml_trace *trace, struct ml_scope_facts *ret)
{
    uint32_t count = ml_trace_scopes(trace);

    *ret = (struct ml_scope_facts){0};
    if (count == 0)
        return 0;
    ret->items = calloc(count, sizeof(*ret->items));
    if (!ret->items)
        return -ENOMEM;
    ret->len = count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t parent = ml_trace_scope(trace, i)->parent;

        if (parent < i)
            ret->items[i] = ret->items[parent];
        add_own(trace, i, &ret->items[i]);
        ret->has_functions |= ret->items[i].in_function;
        ret->has_modules |= ret->items[i].module != 0 && !ret->items[i].in_function;
        ret->has_phases |= ret->items[i].phase_scope != 0;
    }
    return 0;
}

void ml_scope_facts_release(struct ml_scope_facts *facts)
{
    free(facts->items);
    *facts = (struct ml_scope_facts){0};
}
