/* compare_view.h: the composition of runs, entry by entry: their memory at an instant, or the
 * peak of each step or phase.
 *
 * Runs may have different lengths: entries are matched by name, steps by number.
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
    ML_COMPARE_PHASES, /* the peak of each phase, over all steps */
};

struct ml_compare_view_opts {
    enum ml_compare_rows rows;
    enum ml_key by[ML_KEYS]; /* for ML_COMPARE_KEYS */
    size_t by_count;
    struct ml_at at;
    const struct ml_at *instants;     /* for each run its own instead of `at`; NULL: not so */
    const char *device;               /* only blocks on it, for ML_COMPARE_KEYS; NULL: all */
    uint32_t pid;                     /* only blocks of this process, for the same; 0: all */
    size_t top;                       /* entries to list, the largest changes */
    uint64_t min_change_bytes;        /* entries that changed less are ignored */
    const struct ml_level_caps *caps; /* as for the summaries; NULL: none */
};

/* The bytes of an entry in a run. */
struct ml_compare_cell {
    struct ml_change change;
    bool known; /* false: the run has no such step or phase */
};

struct ml_compare_entry {
    const char *names[ML_KEYS];    /* by position in `by`; the first is the step or phase */
    struct ml_compare_cell *cells; /* one per run, in the order of ml_compare.runs */
    uint64_t largest_change;       /* among the runs, absolute */
    uint64_t number;               /* of the step */
};

/* What was live in a run at its instant. */
struct ml_compare_moment {
    uint64_t time_ns, bytes, blocks;
    struct ml_health health;
};

struct ml_compare_view {
    struct ml_arena arena;
    enum ml_compare_rows rows;
    enum ml_key by[ML_KEYS];
    size_t by_count;
    struct ml_at at;
    bool of_instants;                         /* the runs are instants of one run */
    ML_VEC(struct ml_compare_moment) moments; /* in this case, one for each */
    bool by_position; /* the runs share no step number: steps are matched by position */
    ML_VEC(struct ml_compare_entry) entries; /* largest change first; steps and phases in order */
    struct ml_compare_entry rest;            /* the others together, for ML_COMPARE_KEYS */
    size_t rest_count;
    struct ml_compare_entry total; /* of all entries, for ML_COMPARE_KEYS */
    /* The entry with the largest increase in percent, listed or not, of at least
     * min_change_bytes. */
    struct ml_compare_entry worst;
    size_t worst_run; /* 0: no increase */
};

/* Compares the entries of runs that ml_compare has sorted. Each input must have its trace.
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL if no run has allocations; -ENOENT if a run has no such instant, or none has
 *         steps or phases; or another negative errno */
int ml_compare_view(const struct ml_compare_input *inputs, const struct ml_compare *compare,
                    const struct ml_compare_view_opts *opts, struct ml_compare_view *ret,
                    struct ml_error *err);
void ml_compare_view_release(struct ml_compare_view *view);

/* Whether the total says more than the peaks that ml_compare has. */
static inline bool ml_compare_view_has_total(const struct ml_compare_view *view)
{
    return view->rows == ML_COMPARE_KEYS && (view->of_instants || view->at.kind != ML_AT_PEAK);
}

#endif
