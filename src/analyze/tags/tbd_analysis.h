/* tbd_analysis.h: the result of TBD's memory_analysis.py for a log: the bytes of every allocation
 * by the first of its keywords that the tag contains. Tags without a keyword are listed, but are
 * not in any total. Frees are not subtracted. Each keyword is in one of three totals: weights,
 * unknown tags, or forward, which has all the rest.
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

/* An empty sum is printed as Python's integer 0. */
struct ml_tbd_total {
    bool any;
    uint64_t bytes;
};

struct ml_tbd_analysis {
    struct ml_dictionary builtin;              /* unless the caller has its own */
    struct ml_intern words;                    /* tags as the log has them */
    ML_VEC(struct ml_tbd_category) categories; /* in the order of appearance */
    ML_VEC(uint32_t) descending;               /* their indices, most bytes first */
    ML_VEC(const char *) unknown;              /* the tag of each allocation without a keyword */
    struct ml_tbd_total all, weights, forward, unknown_tags;
    uint64_t annotations;
};

/* @list   all allocations, in order
 * @own    the keywords and names to use, which outlives the result; NULL: those of TBD
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_tbd_analysis(const struct ml_tag_list *list, const struct ml_dictionary *own,
                    struct ml_tbd_analysis *ret);
void ml_tbd_analysis_release(struct ml_tbd_analysis *analysis);

#endif
