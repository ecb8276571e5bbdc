/* named_results.h: the graphs of an engine whose nodes have named results.
 *
 * MXNet names the arrays that the nodes of a graph write. If some nodes of a graph have named
 * results, a block without a name that another node's operator allocated is not a result: it
 * belongs to the operator, such as a reordered copy of a weight. A node's scope is a module, and
 * the nodes of a graph have their parent in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NAMED_RESULTS_H
#define ML_ANALYZE_NAMED_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "map.h"
#include "scope_facts.h"
#include "trace.h"

/* Starts zeroed. */
struct ml_named_results {
    struct ml_map graphs; /* parents of nodes */
};

/* A block allocated in a scope with that fact is a result with a name. @return 0 or -ENOMEM */
int ml_named_results_add(struct ml_named_results *results, const struct ml_trace *trace,
                         const struct ml_scope_fact *fact);

/* Whether an operator of a node runs in the scope, and the node's graph has named results. */
bool ml_named_results_of_graph(const struct ml_named_results *results, const struct ml_trace *trace,
                               const struct ml_scope_fact *fact);

void ml_named_results_release(struct ml_named_results *results);

#endif
