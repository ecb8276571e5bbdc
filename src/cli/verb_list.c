/* verb_list.c: see verb_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verb_list.h"

#include <string.h>

const struct ml_verb *const ml_verbs[] = {
    &ml_verb_run,     &ml_verb_attach,        &ml_verb_detach,
    &ml_verb_pause,   &ml_verb_resume,        &ml_verb_symbolize,
    &ml_verb_summary, &ml_verb_view,          &ml_verb_live,
    &ml_verb_plot,    &ml_verb_table,         &ml_verb_tree,
    &ml_verb_layers,  &ml_verb_steps,         &ml_verb_groups,
    &ml_verb_stats,   &ml_verb_events,        &ml_verb_blocks,
    &ml_verb_compare, &ml_verb_ranks,         &ml_verb_digest,
    &ml_verb_check,   &ml_verb_ledger,        &ml_verb_oom,
    &ml_verb_leaks,   &ml_verb_fragmentation, &ml_verb_import,
    &ml_verb_export,  &ml_verb_sql,           &ml_verb_metrics,
    &ml_verb_help,    &ml_verb_completion,    NULL,
};

const struct ml_verb *ml_verb_find(const char *name)
{
    for (size_t i = 0; ml_verbs[i]; i++)
        if (strcmp(ml_verbs[i]->name, name) == 0)
            return ml_verbs[i];
    /* A hidden command: the Python package starts it. */
    return strcmp(name, ml_verb_collect.name) == 0 ? &ml_verb_collect : NULL;
}
