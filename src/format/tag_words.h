/* tag_words.h: the words that tags of MXNet begin with, and the category that each says.
 *
 *     "data_entry:fc1_fwd_oedge0"    data_entry: an activation
 *
 * One table for the importers of the old profilers' files and for the analysis of recorded labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TAG_WORDS_H
#define ML_TAG_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* An argument of a graph is a parameter or an input; the word does not say which. */
#define ML_TAG_ARGUMENT "in_arg"

/* The category of a word, which is given without its colon; MEMLEDGER_OTHER for one that says
 * nothing, as ML_TAG_ARGUMENT. */
uint8_t ml_tag_word_category(const char *word, size_t len);

#endif
