/* tbd_analysis.h: what TBD's memory_analysis.py makes of a log: the bytes of every
 * allocation by the first of its keywords that the tag contains. Tags that have none
 * are named, and are part of no total. Nothing is net of frees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TBD_ANALYSIS_H
#define ML_ANALYZE_TBD_ANALYSIS_H

#include "dictionary.h"
#include "tag_list.h"

struct ml_tbd_category {
    const char *keyword; /* "in_arg" */
    const char *name;    /* "Weights" */
    uint64_t bytes;
    ML_VEC(const char *) tags; /* of each allocation, "(in_arg:fc1_weight)." */
};

/* A sum that is not known to be of anything is Python's integer 0. */
struct ml_tbd_total {
    bool any;
    uint64_t bytes;
};

struct ml_tbd_analysis {
    struct ml_dictionary dictionary;
    struct ml_intern subjects;
    ML_VEC(struct ml_tbd_category) categories; /* as they first came */
    ML_VEC(uint32_t) descending;               /* their indices, most bytes first */
    ML_VEC(const char *) unknown;              /* of each allocation without one */
    struct ml_tbd_total all, weights, forward, unknown_tags;
    uint64_t annotations;
};

/* @list   all that were allocated, in their order
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_tbd_analysis(const struct ml_tag_list *list, struct ml_tbd_analysis *ret);
void ml_tbd_analysis_release(struct ml_tbd_analysis *analysis);

#endif
