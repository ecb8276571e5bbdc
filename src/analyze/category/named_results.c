/* named_results.c: see named_results.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "named_results.h"

static bool is_in_node(const struct ml_scope_fact *fact)
{
    return fact->module && fact->operation > fact->module; /* inner scopes have higher numbers */
}

static uint32_t graph_of(const struct ml_trace *trace, const struct ml_scope_fact *fact)
{
    return ml_trace_scope(trace, fact->module)->parent;
}

int ml_named_results_add(struct ml_named_results *results, const struct ml_trace *trace,
                         const struct ml_scope_fact *fact)
{
    return is_in_node(fact) ? ml_map_put(&results->graphs, graph_of(trace, fact), 0) : 0;
}

bool ml_named_results_of_graph(const struct ml_named_results *results, const struct ml_trace *trace,
                               const struct ml_scope_fact *fact)
{
    return is_in_node(fact) && ml_map_get(&results->graphs, graph_of(trace, fact), NULL);
}

void ml_named_results_release(struct ml_named_results *results)
{
    ml_map_release(&results->graphs);
}
