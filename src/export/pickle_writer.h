/* pickle_writer.h: writes a Python pickle of plain containers incrementally.
 *
 * Protocol 4 without frames, which Python and the smaller readers of viewers all understand.
 * Repeated values can be memoized:
 *
 * ml_pickle_put_dict(p); ml_pickle_put_mark(p); ml_pickle_put_word(p, "size");
 * ml_pickle_put_u64(p, size); ml_pickle_put_set(p); adds everything since the mark to the dict
 *
 * The first failure is kept; ml_pickle_writer_close returns it.
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
    struct ml_buf clean; /* a text being converted to valid UTF-8 */
    int error;           /* the first failure */
};

void ml_pickle_writer_open(struct ml_pickle_writer *p, struct ml_output *out);

/* Ends the pickle; the top value is its result. @return 0 or the first failure */
int ml_pickle_writer_close(struct ml_pickle_writer *p);
void ml_pickle_writer_release(struct ml_pickle_writer *p);

void ml_pickle_put_u64(struct ml_pickle_writer *p, uint64_t value);
void ml_pickle_put_false(struct ml_pickle_writer *p);

/* Bytes that are not UTF-8 become U+FFFD. */
void ml_pickle_put_text(struct ml_pickle_writer *p, const char *text, size_t len);

/* A word that repeats: written once, then referred to. */
void ml_pickle_put_word(struct ml_pickle_writer *p, const char *word);

/* An empty one. */
void ml_pickle_put_list(struct ml_pickle_writer *p);
void ml_pickle_put_dict(struct ml_pickle_writer *p);

/* The values that follow go into the list or dict before the mark. */
void ml_pickle_put_mark(struct ml_pickle_writer *p);
void ml_pickle_put_append(struct ml_pickle_writer *p);
void ml_pickle_put_set(struct ml_pickle_writer *p);

/* A tuple of the last two. */
void ml_pickle_put_pair(struct ml_pickle_writer *p);

/* Numbers the last value; ml_pickle_put_again writes it again. */
uint32_t ml_pickle_put_remember(struct ml_pickle_writer *p);
void ml_pickle_put_again(struct ml_pickle_writer *p, uint32_t number);

#endif
