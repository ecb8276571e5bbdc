/* engine_names.c: see engine_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine_names.h"

#include <string.h>

#include "memledger/memledger.h"

#define ENTRY "data_entry:"
#define NUMBERED "node_"
#define SUM "sum_grad" /* of gradients that meet */

static bool is_numbered(const char *label)
{
    const char *digit = label + strlen(NUMBERED);

    return !strncmp(label, NUMBERED, strlen(NUMBERED)) && *digit >= '0' && *digit <= '9';
}

bool ml_engine_name_is_empty(const struct ml_trace *trace, uint32_t scope, const char *label)
{
    if (!strncmp(label, ENTRY, strlen(ENTRY)))
        return is_numbered(label + strlen(ENTRY));
    if (is_numbered(label) || !strcmp(label, SUM))
        return true;
    while (scope != 0) {
        const struct ml_scope *s = ml_trace_scope(trace, scope);

        if (s->kind == MEMLEDGER_SCOPE_OPERATOR)
            return !strcmp(ml_trace_string(trace, s->name, NULL), label);
        scope = s->parent < scope ? s->parent : 0;
    }
    return false;
}
