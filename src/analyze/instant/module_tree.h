/* module_tree.h: the memory of each module at an instant, by category: as a tree, and as a list
 * in the order of the modules' first calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_MODULE_TREE_H
#define ML_ANALYZE_MODULE_TREE_H

#include "snapshot.h"
#include "vec.h"

/* Bytes by category and in total. */
struct ml_holding {
    uint64_t by_category[ML_CATEGORIES]; /* enum memledger_category */
    uint64_t bytes, blocks;
};

/* The bytes of all categories that have no bit (1 << category) in `shown`. */
uint64_t ml_holding_rest(const struct ml_holding *holding, unsigned shown);

/* ---- The tree ---------------------------------------------------------- */

struct ml_tree_opts {
    struct ml_snapshot_opts snapshot;
    size_t depth;       /* levels of the tree to show; 0: all */
    double min_percent; /* smaller modules share one row */
};

struct ml_tree_row {
    const char
        *name; /* the part of the path below its parent: "layers.3"; "" for several together */
    const char *title;      /* "GPT > encoder.layers.3"; "" for blocks without a module */
    const char *class_name; /* "" if unknown */
    size_t depth;           /* 1 for the outermost modules */
    size_t folded;          /* the number of small ones in this row; 0: a module */
    size_t hidden;          /* modules below it that the depth limit omits */
    bool no_module;
    struct ml_holding own; /* without the modules below it */
    struct ml_holding all; /* with them */
    double percent;        /* of all live bytes */
};

struct ml_module_tree {
    struct ml_snapshot at;
    bool from_scopes;                /* the trace has no modules, the tree shows its scopes */
    bool has_stacks;                 /* the tree of calls would show more */
    struct ml_holding all;           /* the sum of the rows of depth 1 */
    ML_VEC(struct ml_tree_row) rows; /* parents first, then most bytes first */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_module_tree(const struct ml_trace *trace, const struct ml_tree_opts *opts,
                   struct ml_module_tree *ret, struct ml_error *err);
void ml_module_tree_release(struct ml_module_tree *tree);

/* ---- The list ---------------------------------------------------------- */

struct ml_layer {
    const char *title;
    const char *class_name; /* "" if unknown */
    bool no_module;
    struct ml_holding own;
    double percent;
};

struct ml_layers {
    struct ml_snapshot at;
    bool from_scopes;
    struct ml_holding all;
    ML_VEC(struct ml_layer) list; /* those with memory, in the order of their first call */
};

int ml_layers(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
              struct ml_layers *ret, struct ml_error *err);
void ml_layers_release(struct ml_layers *layers);

#endif
