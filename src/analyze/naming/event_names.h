/* event_names.h: the names of the numbers in events, for reports and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_EVENT_NAMES_H
#define ML_ANALYZE_EVENT_NAMES_H

#include <stdint.h>

/* "parameter", "optimizer_state"; "other" for an unknown number. */
const char *ml_category_name(uint64_t category);

/* "driver", "pool", "block"; "unknown". */
const char *ml_level_name(uint32_t level);

/* "started", "forked", "exec"; "unknown". */
const char *ml_how_name(uint32_t how);

/* "alloc", "free_range"; "unknown". */
const char *ml_kind_name(uint32_t kind);

/* 1 + the rank in the role of a process, "rank 3"; 0: it has another role. */
uint32_t ml_role_rank(const char *role);

#endif
