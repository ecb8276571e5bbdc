/* tag_words.h: the words in MXNet's tags and names, and the category that a tag's first word says.
 *
 *     "data_entry:fc1_fwd_oedge0"    data_entry: an activation
 *
 * One table for the importers of the old profilers' files and for the analysis of recorded labels.
 * The recorder gives blocks the names below; tags.c makes tags of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TAG_WORDS_H
#define ML_TAG_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* An argument of a graph is a parameter or an input; the word does not say which. */
#define ML_TAG_ARGUMENT "in_arg"

/* Between the name of a graph's node and the number of its output: "fc1_oedge0". */
#define ML_MXNET_EDGE "_oedge"

/* In the name of a gradient that a backward pass begins with: "_head_grad_0". */
#define ML_MXNET_HEAD_GRADIENT "_head_grad"

/* The name of memory that operators borrow from MXNet. */
#define ML_MXNET_TEMP_SPACE "temp_space"

/* The category of a word, which is given without its colon; MEMLEDGER_OTHER for one that says
 * nothing, as ML_TAG_ARGUMENT. */
uint8_t ml_tag_word_category(const char *word, size_t len);

#endif
