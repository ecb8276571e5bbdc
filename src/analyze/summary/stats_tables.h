/* stats_tables.h: builds the lists of the stats from the gathered counts. Only stats.c includes
 * it. Functions return 0 or -ENOMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STATS_TABLES_H
#define ML_ANALYZE_STATS_TABLES_H

#include "stats_gather.h"

/* These sort the gathered counts. */
int ml_stats_threads(struct ml_gather *g, size_t top, struct ml_stats *ret);
int ml_stats_scopes(struct ml_gather *g, size_t top, struct ml_stats *ret);

int ml_stats_spaces(const struct ml_gather *g, struct ml_stats *ret);
int ml_stats_largest(const struct ml_gather *g, size_t top, struct ml_stats *ret);

#endif
