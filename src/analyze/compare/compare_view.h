/* compare_view.h: what runs consisted of, entry by entry: what each had at an instant,
 * or the peak of each step or phase.
 *
 * Runs may be of any length: entries meet by their names, steps by their numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_VIEW_H
#define ML_ANALYZE_COMPARE_VIEW_H

#include "breakdown.h"
#include "compare.h"

enum ml_compare_rows {
    ML_COMPARE_KEYS,   /* groups of blocks that were live at an instant */
    ML_COMPARE_STEPS,  /* the peak of each step */
    ML_COMPARE_PHASES, /* the most in each phase, of all steps */
};

struct ml_compare_view_opts {
    enum ml_compare_rows rows;
    enum ml_key by[ML_KEYS]; /* of ML_COMPARE_KEYS */
    size_t by_count;
    struct ml_at at;
    size_t top;                       /* entries to list, those that changed most */
    uint64_t min_change_bytes;        /* entries that changed less are not listed, nor judged */
    const struct ml_level_caps *caps; /* those of the summaries; NULL: none */
};

/* A run's bytes of an entry. */
struct ml_compare_cell {
    struct ml_change change;
    bool known; /* false: the run has no such step or phase */
};

struct ml_compare_entry {
    const char *names[ML_KEYS];    /* by position in `by`; the step or the phase is the first */
    struct ml_compare_cell *cells; /* one per run, in the order of ml_compare.runs */
    uint64_t largest_change;       /* among the runs, without its sign */
    uint64_t number;               /* of the step */
};

struct ml_compare_view {
    struct ml_arena arena;
    enum ml_compare_rows rows;
    enum ml_key by[ML_KEYS];
    size_t by_count;
    struct ml_at at;
    bool by_position; /* steps meet by their place, since the runs share no number */
    ML_VEC(struct ml_compare_entry) entries; /* largest change first; steps, phases in order */
    struct ml_compare_entry rest;            /* the others together, of ML_COMPARE_KEYS */
    size_t rest_count;
    /* The entry that rose most in percent, listed or not, by min_change_bytes at least. */
    struct ml_compare_entry worst;
    size_t worst_run; /* 0: none rose */
};

/* Compares the entries of runs that ml_compare has put in order; the summary of each
 * input must have its trace beside it.
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL when no run has allocations; -ENOENT when a run has no such
 *         instant, or none has steps or phases; or another negative errno */
int ml_compare_view(const struct ml_compare_input *inputs, const struct ml_compare *compare,
                    const struct ml_compare_view_opts *opts, struct ml_compare_view *ret,
                    struct ml_error *err);
void ml_compare_view_release(struct ml_compare_view *view);

#endif
