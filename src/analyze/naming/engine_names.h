/* engine_names.h: names that MXNet 2 gives blocks of operators, which say no more than the
 * scopes that they were born in: `dot` of what dot writes, and numbers of nodes, which
 * change from step to step: `node_76_backward`, `data_entry:node_7_oedge0`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ENGINE_NAMES_H
#define ML_ANALYZE_ENGINE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

/* @scope where the block was born */
bool ml_engine_name_is_empty(const struct ml_trace *trace, uint32_t scope, const char *label);

#endif
