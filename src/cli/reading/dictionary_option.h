/* dictionary_option.h: keyword dictionaries on the command line: names of built-in
 * ones, or of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_DICTIONARY_OPTION_H
#define ML_CLI_DICTIONARY_OPTION_H

#include "dictionary.h"

typedef ML_VEC(struct ml_dictionary) ml_dictionary_list;

/* "mxnet,layers.txt": for each part the built-in dictionary, else the file.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno, with the reason in `err` */
int ml_dictionaries_load(const char *names, ml_dictionary_list *ret, struct ml_error *err);
void ml_dictionaries_release(ml_dictionary_list *list);

/* The names of the built-in ones, for shell completion. */
const char *ml_dictionary_word(size_t i);

#endif
