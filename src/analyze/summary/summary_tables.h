/* summary_tables.h: the parts of a summary, each from a replay. Only summary.c includes it.
 * Functions return 0 or -ENOMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SUMMARY_TABLES_H
#define ML_ANALYZE_SUMMARY_TABLES_H

#include "compose.h"
#include "summary.h"

/* Adds the figures of a space to a sum, except the peak, which is set elsewhere. */
void ml_figures_add(struct ml_figures *sum, const struct ml_replay_space *space);

int ml_summary_devices(const struct ml_replay *replay, struct ml_summary *ret);
int ml_summary_processes(const struct ml_replay *replay, struct ml_summary *ret);

/* Live memory at the end, added up before the blocks of that replay are freed: the blocks of two
 * replays would take twice the memory. */
struct ml_summary_end {
    struct ml_composition categories, scopes, labels;
};

/* @ret  to be released, after a failure too */
int ml_summary_end(const struct ml_replay *at_end, struct ml_summary_end *ret);
void ml_summary_end_release(struct ml_summary_end *end);

/* The parts of the peak. `at_peak` is fed up to the peak; `at_end`, a replay of the whole trace,
 * needs only its totals. */
int ml_summary_categories(const struct ml_replay *at_peak, const struct ml_replay *at_end,
                          const struct ml_summary_end *end, struct ml_summary *ret);
int ml_summary_scopes(const struct ml_replay *at_peak, const struct ml_summary_end *end, size_t top,
                      struct ml_summary *ret);
int ml_summary_labels(const struct ml_replay *at_peak, const struct ml_summary_end *end, size_t top,
                      struct ml_summary *ret);
/* The share of the peak that has a name. */
int ml_summary_named(const struct ml_replay *at_peak, const struct ml_classes *classes,
                     struct ml_summary *ret);

#endif
