/* label_tags.h: the facts in MXNet's own labels: "data_entry:fc1_fwd_oedge0".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LABEL_TAGS_H
#define ML_ANALYZE_LABEL_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* The category of a label that was given without one, by its first known word.
 * Words end with a colon; unknown words before it are ignored. The word for arguments counts as
 * unknown, since it means a parameter or an input.
 * @return a category; MEMLEDGER_OTHER: no word is known */
uint8_t ml_label_tag(const char *label, size_t len);

/* Whether the label of a block in MXNet's storage adds nothing to the scopes of the allocation.
 * MXNet 2 gives such labels to blocks of operators: `dot` for the output of dot, and numbers of
 * nodes, which change from step to step: `node_76_backward`, `node_7_oedge0`.
 * @scope     where the block was allocated
 * @category  given with the label; only labels of results can be empty */
bool ml_engine_name_is_empty(const struct ml_trace *trace, uint32_t scope, const char *label,
                             uint8_t category);

#endif
