/* call_tree.h: a figure of a run (costs.h) by call: from the outermost functions down to those that
 * requested memory, or from these up to their callers. For trees in text and for flame graphs.
 *
 * Calls of a function from the same place in the tree are one row, whatever their lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CALL_TREE_H
#define ML_ANALYZE_CALL_TREE_H

#include "costs.h"

struct ml_call_tree_opts {
    struct ml_snapshot_opts snapshot;
    struct ml_temporary_limit limit;
    enum ml_cost of;
    bool callers;       /* from the requests outwards */
    size_t depth;       /* levels to show; 0: all */
    double min_percent; /* smaller rows of one parent share one row */
};

struct ml_call_row {
    const char *function; /* "(unknown in libfoo.so)" if unknown; "" for several together */
    const char *file;     /* NULL: unknown, or several */
    uint32_t line;        /* 0: unknown, or several */
    const char *library;  /* path; NULL: unknown, or a Python frame */
    size_t depth;         /* 1 for the outermost */
    size_t folded;        /* the number of small ones in this row; 0: a function */
    size_t hidden;        /* functions below it that the depth limit omits */
    bool no_stack;        /* blocks without a stack */
    uint64_t figure;      /* with the rows below it */
    uint64_t own;         /* without; in a tree of callers: of stacks that end here */
    double percent;       /* of the total */
};

struct ml_call_tree {
    struct ml_cost_report costs; /* its instant and its totals; no groups */
    bool callers;
    ML_VEC(struct ml_call_row) rows; /* parents first, then the largest first */
};

/* @ret    to be released, after a failure too
 * @return 0; -ENODATA if no block has a stack; or another negative errno, see ml_costs */
int ml_call_tree(const struct ml_trace *trace, const struct ml_call_tree_opts *opts,
                 struct ml_call_tree *ret, struct ml_error *err);
void ml_call_tree_release(struct ml_call_tree *tree);

#endif
