/* pickle_writer.h: Python's pickle, plain containers only, written as it grows.
 *
 * Protocol 4 without frames: what Python, and the smaller readers that viewers have, all
 * understand. A value that comes again is remembered and referred to:
 *
 *     ml_pickle_put_dict(p);
 *     ml_pickle_put_mark(p);
 *     ml_pickle_put_word(p, "size");
 *     ml_pickle_put_u64(p, size);
 *     ml_pickle_put_set(p);            puts all since the mark into the dict
 *
 * The first failure is kept; ml_pickle_writer_close tells it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_PICKLE_WRITER_H
#define ML_EXPORT_PICKLE_WRITER_H

#include "intern.h"
#include "output_file.h"

struct ml_pickle_writer {
    struct ml_output *out;
    uint32_t remembered;    /* values, numbered from 0 */
    struct ml_intern words; /* of ml_pickle_put_word */
    ML_VEC(uint32_t) word_memos;
    struct ml_buf clean; /* a text being made valid */
    int error;           /* the first failure */
};

void ml_pickle_writer_open(struct ml_pickle_writer *p, struct ml_output *out);

/* The value that was made is all. @return 0 or the first failure */
int ml_pickle_writer_close(struct ml_pickle_writer *p);
void ml_pickle_writer_release(struct ml_pickle_writer *p);

void ml_pickle_put_u64(struct ml_pickle_writer *p, uint64_t value);
void ml_pickle_put_false(struct ml_pickle_writer *p);

/* Bytes that are no UTF-8 become U+FFFD. */
void ml_pickle_put_text(struct ml_pickle_writer *p, const char *text, size_t len);

/* One of few words: written once. */
void ml_pickle_put_word(struct ml_pickle_writer *p, const char *word);

/* An empty one. */
void ml_pickle_put_list(struct ml_pickle_writer *p);
void ml_pickle_put_dict(struct ml_pickle_writer *p);

/* What follows goes into the list or dict that was made last. */
void ml_pickle_put_mark(struct ml_pickle_writer *p);
void ml_pickle_put_append(struct ml_pickle_writer *p);
void ml_pickle_put_set(struct ml_pickle_writer *p);

/* A tuple of the last two. */
void ml_pickle_put_pair(struct ml_pickle_writer *p);

/* Gives the value made last a number, and makes that value again. */
uint32_t ml_pickle_put_remember(struct ml_pickle_writer *p);
void ml_pickle_put_again(struct ml_pickle_writer *p, uint32_t number);

#endif
