/* verbs.h: the commands. Each is defined in its cmd_*.c; verb_list.h lists them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_VERBS_H
#define ML_CLI_VERBS_H

#include "options.h"

extern const struct ml_verb ml_verb_run;
extern const struct ml_verb ml_verb_collect; /* hidden */
extern const struct ml_verb ml_verb_attach;
extern const struct ml_verb ml_verb_detach;
extern const struct ml_verb ml_verb_pause;
extern const struct ml_verb ml_verb_resume;
extern const struct ml_verb ml_verb_import;
extern const struct ml_verb ml_verb_symbolize;
extern const struct ml_verb ml_verb_summary;
extern const struct ml_verb ml_verb_ledger;
extern const struct ml_verb ml_verb_tree;
extern const struct ml_verb ml_verb_layers;
extern const struct ml_verb ml_verb_table;
extern const struct ml_verb ml_verb_groups;
extern const struct ml_verb ml_verb_steps;
extern const struct ml_verb ml_verb_leaks;
extern const struct ml_verb ml_verb_stats;
extern const struct ml_verb ml_verb_events;
extern const struct ml_verb ml_verb_blocks;
extern const struct ml_verb ml_verb_oom;
extern const struct ml_verb ml_verb_fragmentation;
extern const struct ml_verb ml_verb_compare;
extern const struct ml_verb ml_verb_digest;
extern const struct ml_verb ml_verb_ranks;
extern const struct ml_verb ml_verb_check;
extern const struct ml_verb ml_verb_plot;
extern const struct ml_verb ml_verb_view;
extern const struct ml_verb ml_verb_live;
extern const struct ml_verb ml_verb_metrics;
extern const struct ml_verb ml_verb_sql;
extern const struct ml_verb ml_verb_export;
extern const struct ml_verb ml_verb_help;
extern const struct ml_verb ml_verb_completion;

#endif
