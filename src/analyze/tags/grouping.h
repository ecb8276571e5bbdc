/* grouping.h: groups tags and their bytes into the categories of a keyword dictionary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_GROUPING_H
#define ML_ANALYZE_GROUPING_H

#include "dictionary.h"
#include "tag_list.h"

#define ML_UNTRACKABLE "Untrackable"

struct ml_group_entry {
    const char *tag;
    uint64_t bytes;
    uint64_t count; /* allocations of that tag */
};

struct ml_group {
    const char *name;                      /* of the category, "Others", "Untrackable" */
    int64_t bytes;                         /* Untrackable may be negative */
    double percent;                        /* of expected_bytes if known, else of total_bytes */
    uint64_t count;                        /* allocations */
    ML_VEC(struct ml_group_entry) entries; /* most bytes first, at most `top` */
    uint64_t rest_entries, rest_bytes;     /* of tags that are not listed */
    uint64_t first;                        /* position of the first entry; orders equal groups */
    bool is_others, is_untrackable;
};

struct ml_group_match {
    const char *keyword, *category;
};

/* With `all`: a tag that several keywords match, which counts once for each. */
struct ml_group_clash {
    const char *tag;
    const struct ml_group_match *matches; /* in the order of the dictionary */
    size_t match_count;                   /* 2 or more */
};

struct ml_grouping {
    struct ml_arena arena;
    const char *dictionary; /* its name */
    enum ml_match match;
    /* Most bytes first, then Others if any, then Untrackable if expected_bytes is known.
     * Categories without bytes are omitted. */
    ML_VEC(struct ml_group) groups;
    uint64_t total_bytes, total_count; /* each entry once */
    bool has_expected;
    uint64_t expected_bytes;
    ML_VEC(struct ml_group_clash) clashes; /* one for each tag */
};

struct ml_grouping_opts {
    size_t top;       /* entries to list in a group */
    bool torch_words; /* tags are spelled by ml_tag_in_torch_words; a keyword may match either
                         spelling */
    size_t tag_chars; /* longer tags are cut, and merged if they are then equal, except in
                         Others, as MXNet's scripts do; 0: no cut */
    bool has_expected;
    uint64_t expected_bytes;
};

/* @dictionary  need not outlive the result, nor need `list`
 * @ret         to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_grouping(const struct ml_tag_list *list, const struct ml_dictionary *dictionary,
                const struct ml_grouping_opts *opts, struct ml_grouping *ret);
void ml_grouping_release(struct ml_grouping *grouping);

#endif
