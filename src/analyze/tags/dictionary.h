/* dictionary.h: assigns tags to categories by keywords.
 *
 * A text file; the remarks on the right are not part of it:
 *
 *     # what the memory of my model is for
 *     match = first              or all
 *     others = Others            the name for tags without a match
 *
 *     [Parameters]
 *     in_arg:                    part of the tag, case-sensitive
 *     /^optimizer_state:/        a regular expression (POSIX, extended); /…/i: ignores case
 *     "# odd one"                quotes: taken literally
 *
 * Keywords are tried in the order of the file. With `first`, a tag goes to the first keyword that
 * matches. With `all`, it goes to every keyword that matches, so a category counts it twice if
 * two of its keywords match, as in MXNet's scripts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DICTIONARY_H
#define ML_ANALYZE_DICTIONARY_H

#include <regex.h>
#include <stdbool.h>

#include "arena.h"
#include "error.h"
#include "vec.h"

enum ml_match { ML_MATCH_FIRST, ML_MATCH_ALL };

struct ml_keyword {
    const char *text;
    uint32_t category; /* index */
    bool is_regex;
    regex_t regex;
};

struct ml_dictionary {
    struct ml_arena arena;
    const char *name; /* "mxnet", or the name of the file */
    enum ml_match match;
    const char *others;
    bool bracketed; /* keywords are searched in "(tag)." with '_' for ' ', as in TBD */
    bool classes;   /* keywords are searched in "tag Class" */
    ML_VEC(const char *) categories; /* in the order of the file, each once */
    ML_VEC(struct ml_keyword) keywords;
    bool has_expected;       /* the file gives the expected total */
    uint64_t expected_bytes; /* if so */
};

/* Parses the text of a dictionary.
 * @ret    to be released, after a failure too
 * @return 0, -EINVAL with the line in `err`, or -ENOMEM */
int ml_dictionary_parse(const char *name, const char *text, struct ml_dictionary *ret,
                        struct ml_error *err);

/* A dictionary that comes with memledger: "mxnet", "mxnet-lstm", "tbd", "torch", "layers".
 * @return 0, -ENOENT, or -ENOMEM */
int ml_dictionary_builtin(const char *name, struct ml_dictionary *ret, struct ml_error *err);

/* Their names, NULL-terminated, and the text of one; NULL: there is none of that name. */
extern const char *const ml_dictionary_names[];
const char *ml_dictionary_text(const char *name);

void ml_dictionary_release(struct ml_dictionary *dictionary);

/* Appends the tag as the word that TBD's analysis cuts out of a line: "(tag).", with '_' for
 * spaces. An unknown block is "untagged" there: "(untagged:_zeros).".
 * @return 0 or -ENOMEM */
int ml_tbd_word(const char *tag, struct ml_buf *out);

/* Sets the buffer to the text in which keywords are searched: the tag, with the class of its module
 * if the dictionary wants it, or the word of TBD's analysis for a bracketed dictionary.
 * @class_name  NULL: unknown
 * @return 0 or -ENOMEM */
int ml_dictionary_subject(const struct ml_dictionary *dictionary, const char *tag,
                          const char *class_name, struct ml_buf *ret);

/* The next keyword that matches, from index `from` on. @return its index, or -1 */
int64_t ml_dictionary_match(const struct ml_dictionary *dictionary, const char *subject,
                            size_t from);

#endif
