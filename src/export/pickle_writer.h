/* pickle_writer.h: Python's pickle, plain containers only, written as it grows.
 *
 * Protocol 4 without frames: what Python, and the smaller readers that viewers have, all
 * understand. A value that comes again is remembered and referred to:
 *
 *     ml_pickle_dict(p);
 *     ml_pickle_mark(p);
 *     ml_pickle_word(p, "size");
 *     ml_pickle_u64(p, size);
 *     ml_pickle_set(p);            puts all since the mark into the dict
 *
 * The first failure is kept; ml_pickle_close tells it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_PICKLE_WRITER_H
#define ML_EXPORT_PICKLE_WRITER_H

#include "intern.h"
#include "output_file.h"

struct ml_pickle {
    struct ml_output *out;
    uint32_t remembered;    /* values, numbered from 0 */
    struct ml_intern words; /* of ml_pickle_word */
    ML_VEC(uint32_t) word_memos;
    struct ml_buf clean; /* a text being made valid */
    int error;           /* the first failure */
};

void ml_pickle_open(struct ml_pickle *p, struct ml_output *out);

/* The value that was made is all. @return 0 or the first failure */
int ml_pickle_close(struct ml_pickle *p);
void ml_pickle_release(struct ml_pickle *p);

void ml_pickle_u64(struct ml_pickle *p, uint64_t value);
void ml_pickle_false(struct ml_pickle *p);

/* Bytes that are no UTF-8 become U+FFFD. */
void ml_pickle_text(struct ml_pickle *p, const char *text, size_t len);

/* One of few words: written once. */
void ml_pickle_word(struct ml_pickle *p, const char *word);

/* An empty one. */
void ml_pickle_list(struct ml_pickle *p);
void ml_pickle_dict(struct ml_pickle *p);

/* What follows goes into the list or dict that was made last. */
void ml_pickle_mark(struct ml_pickle *p);
void ml_pickle_append(struct ml_pickle *p);
void ml_pickle_set(struct ml_pickle *p);

/* A tuple of the last two. */
void ml_pickle_pair(struct ml_pickle *p);

/* Gives the value made last a number, and makes that value again. */
uint32_t ml_pickle_remember(struct ml_pickle *p);
void ml_pickle_again(struct ml_pickle *p, uint32_t number);

#endif
