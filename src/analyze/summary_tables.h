/* summary_tables.h: the parts of a summary, each from a replay. Only summary.c
 * includes it. Functions return 0 or -ENOMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SUMMARY_TABLES_H
#define ML_ANALYZE_SUMMARY_TABLES_H

#include "compose.h"
#include "summary.h"

/* Adds the figures of a space to a sum; the peak of the sum is set elsewhere. */
void ml_figures_add(struct ml_figures *sum, const struct ml_trace *trace,
                    const struct ml_replay_space *space);

int ml_summary_devices(const struct ml_replay *replay, struct ml_summary *ret);
int ml_summary_processes(const struct ml_replay *replay, struct ml_summary *ret);

/* What the replay, fed up to the peak, holds. `at_end` is a replay of all. */
int ml_summary_categories(const struct ml_replay *at_peak, const struct ml_replay *at_end,
                          struct ml_summary *ret);
int ml_summary_scopes(const struct ml_replay *at_peak, const struct ml_replay *at_end, size_t top,
                      struct ml_summary *ret);
/* How much of the peak has a name. */
int ml_summary_named(const struct ml_replay *at_peak, const struct ml_classes *classes,
                     struct ml_summary *ret);
int ml_summary_labels(const struct ml_replay *at_peak, const struct ml_replay *at_end, size_t top,
                      struct ml_summary *ret);

#endif
