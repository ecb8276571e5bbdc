/* label_tags.h: what MXNet's own labels say of a block: "data_entry:fc1_fwd_oedge0".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LABEL_TAGS_H
#define ML_ANALYZE_LABEL_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* The category that a label tells by the word it begins with, where whoever gave it said none.
 * Words end with a colon; what stands before the first that is known does not matter. That
 * of an argument does not say whether it is a parameter or an input, so it is not known.
 * @return a category, MEMLEDGER_OTHER: it says nothing */
uint8_t ml_label_tag(const char *label, size_t len);

/* Whether the label says no more than the scopes that the block was allocated in. MXNet 2 labels
 * blocks of operators so: `dot` for what dot writes, and numbers of nodes, which change from step
 * to step: `node_76_backward`, `data_entry:node_7_oedge0`.
 * @scope where the block was allocated */
bool ml_engine_name_is_empty(const struct ml_trace *trace, uint32_t scope, const char *label);

#endif
